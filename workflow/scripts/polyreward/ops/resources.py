"""What jobs ask for: memory by the size of the models that they hold, and minutes and GPUs on a cluster."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from polyreward.ops.machine import TABLE_MB
from polyreward.settings.base import Section
from polyreward.settings.model import Settings
from polyreward.settings.transfer import Dpo
from polyreward.sheet.scorers import Sheet

# What a job takes in MB where its models compute: PROGRAM + LOADED * weights + WORK[kind] * sqrt(weights).
# Loading holds pages of a file next to the weights; batches grow with a model's width, of which the weights
# are about the square. From peaks at scale mini; "supervise" and "score_long" for CARB are estimates.
PROGRAM = 800
LOADED = 1.1
WORK = {"load": 36, "generate": 24, "score": 38, "score_long": 62, "train": 60, "supervise": 65, "grpo": 105}
# Gradients and AdamW's moments of a billion parameters that are all trained
FULL_TRAINING_MB, FULL_TRAINING_8BIT_MB = 12e3, 6e3
# Of the machine's memory where the model computes on a GPU: CUDA's libraries. An estimate.
CUDA_PROGRAM = 4000
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# Of a pair of 4 kB of text: peaks were 160 times the text
TFIDF_MB = 0.65
PROMPT = 1024  # tokens that are allowed for
UNKNOWN_B = 0.3  # billions of parameters of a model of unknown size: that of mini's


@dataclass(frozen=True)
class ModelJob:
    """What jobs that hold models take; called with a job's wildcards, it returns its MB of memory.

    kind: a key of WORK. models: returns, for the wildcards, names in models.yaml or entries of reward models,
    which are loaded one after another. training: the section of its settings, where it trains. gpu: does it
    compute on a GPU here? minutes: its limit on a cluster. tokens: that scoring or writing has at once.
    shards: over how many processes the state of a training is split.
    """

    kind: str
    models: Callable[..., Iterable[str | dict]]
    training: Section | None
    known: dict
    precision: str
    processes: int
    gpu: bool
    minutes: int
    tokens: int = 0
    shards: int = 1

    def __call__(self, wildcards, attempt=1) -> int:
        """Return the MB of memory that a job asks for; half as much again at each further attempt."""
        asked = max([TABLE_MB, *(self.processes * self._host_mb(entry) for entry in self.entries(wildcards))])
        return math.ceil(asked / 100) * 100 * (attempt + 1) // 2

    def entries(self, wildcards) -> list[dict]:
        """Return the models that are loaded here, not on a server."""
        found = [self.known[one] if isinstance(one, str) else one for one in self.models(wildcards)]
        return [entry for entry in found if "server" not in entry]

    def _host_mb(self, entry: dict) -> float:
        """Return the MB of this machine's memory that a model takes with the reference next to it."""
        weights = training = 0.0
        own = self.precision if self.training is None else "float32"
        for one, dtype in ((entry, own), (entry.get("reference"), self.precision)):
            if one and "server" not in one:
                weights += parameters_b(one, self.known) * 1e3 * BYTES.get(one.get("dtype", dtype), 4)
        if self.gpu:
            return CUDA_PROGRAM + LOADED * weights
        if self.training is not None and not self.training.lora:
            eight_bit = "8bit" in getattr(self.training, "optimizer", "")
            each = FULL_TRAINING_8BIT_MB if eight_bit else FULL_TRAINING_MB
            training = each * parameters_b(entry, self.known)
        return PROGRAM + LOADED * weights + WORK[self.kind] * math.sqrt(weights) + training

    def name(self, entry: dict) -> str:
        """Return what a model is called: its name in models.yaml, or where it is from."""
        source = entry.get("source")
        known = (name for name, one in self.known.items() if source and one.get("source") == source)
        return next(known, entry.get("model") or entry.get("hub") or entry.get("path") or "?")

    def card_bytes(self, entry: dict) -> float:
        """Return what a model certainly takes of each of its GPUs: its weights, and where it trains their
        gradients and the optimizer's state. Activations come on top; `polyreward gpu-check` measures them."""
        training, half = self.training, 2 if self.precision != "float32" else 4
        parameters = parameters_b(entry, self.known) * 1e9
        reference = entry.get("reference") or {"server": None}
        second = 0.0 if "server" in reference else parameters_b(reference, self.known) * 1e9
        if training is None:
            return BYTES.get(entry.get("dtype"), half) * (parameters + second) / entry.get("gpus", 1)
        if training.lora:  # training/grpo.py loads what adapters leave as it is in the job's precision
            state = (half if self.kind == "grpo" else 4) * parameters
        else:
            state = (8 + moments(getattr(training, "optimizer", ""))) * parameters
            if training.beta > 0 if self.kind == "grpo" else self.processes > 1 and isinstance(training, Dpo):
                state += half * parameters  # a frozen copy
        return state / self.shards + half * second  # each process also has a reward model

    def card_problems(self, entry: dict, room: float) -> Iterator[str]:
        """Yield what certainly does not fit GPUs of so many bytes, and what to do."""
        held = self.card_bytes(entry)
        devices = self.processes if self.training else entry.get("gpus", 1)
        on = f"each of {devices} GPUs" if devices > 1 else "one GPU"
        if held > room:
            what, how = "its weights", "spread it (`gpus` in its entry), serve it (`server`)"
            if self.training:
                what = "weights, gradients and the optimizer's state"
                eight_bit = "" if self.kind == "grpo" else "set `optimizer: paged_adamw_8bit`, "
                how = f"{eight_bit}train adapters (`lora`), split it over GPUs (`devices.launch`)"
            said = f"needs {gib(held):.0f} GiB for {what} on {on}, of {gib(room):.0f}"
            yield f"{said}; {how}, or take larger GPUs"
        if self.kind != "grpo" or not self.training.vllm:
            return
        share = self.training.vllm_gpu_share * room
        copy = 2 * parameters_b(entry, self.known) * 1e9 / self.training.vllm_tensor_parallel
        if copy > share:
            yield (
                f"vLLM's copy takes {gib(copy):.0f} GiB of each GPU, and vllm_gpu_share gives it"
                f" {gib(share):.0f}; raise that, or vllm_tensor_parallel"
            )
        if held + share > room:  # while vLLM writes
            yield (
                f"training takes {gib(held):.0f} GiB of each GPU and vLLM {gib(share):.0f}, of"
                f" {gib(room):.0f}; lower vllm_gpu_share, or take more GPUs"
            )

    def gpus(self, wildcards) -> int:
        """Return how many GPUs a job uses: for each process as many as a model is spread over."""
        return self.processes * max([entry.get("gpus", 1) for entry in self.entries(wildcards)], default=0)


@dataclass(frozen=True)
class Job:
    """A job of a run. model: what its rule says of its models, None where it holds none."""

    rule: str
    wildcards: Mapping
    model: ModelJob | None

    @property
    def held(self) -> list[dict]:
        """Return the entries of its models with their references, those on servers too."""
        named = self.model.models(self.wildcards) if self.model else []
        entries = [self.model.known[one] if isinstance(one, str) else one for one in named]
        return [one for entry in entries for one in (entry, entry.get("reference")) if one]

    @property
    def on_card(self) -> list[dict]:
        """Return the entries of the models that compute, which they do on GPUs where there are some."""
        return self.model.entries(self.wildcards) if self.model and self.model.kind != "load" else []


def unset_keys(jobs: Iterable[Job], environment: Mapping[str, str]) -> list[str]:
    """Return a line for each variable of a server's key that jobs need and the environment lacks."""
    servers = [entry["server"] for job in jobs for entry in job.held if "server" in entry]
    wanted: dict[str, set[str]] = {}
    for server in servers:
        if "api_key_variable" in server and not environment.get(server["api_key_variable"]):
            wanted.setdefault(server["api_key_variable"], set()).add(server["model"])
    return [
        f"{variable} is not set, and holds the key for {', '.join(sorted(models))}. Set it:"
        f" export {variable}=... (for a server that wants no key, leave out `api_key_variable`)"
        for variable, models in wanted.items()
    ]


@dataclass(frozen=True)
class JobResources:
    """Memory, time and GPUs of jobs, as rules state them.

    Minutes, and the memory of jobs without a model, are limits on a cluster. They are estimates for the
    papers' own models and data on GPUs of 80 GB; `polyreward costs` prints what jobs took.

    known: models.yaml. sheet: whose scorers rules may name. gpus: of this machine. runs_here: do jobs run on
    it? site: a cluster's settings, or None.
    """

    settings: Settings
    known: dict
    sheet: Sheet
    gpus: int
    runs_here: Callable[[], bool]
    site: dict | None = None

    def for_models(
        self,
        kind: str,
        models: str | dict | Callable[..., Iterable[str | dict]],
        training: Section | None = None,
        on_gpu: bool = True,
        *,
        minutes: int,
        tokens: int | None = None,
    ) -> dict[str, Callable | int | str]:
        """Return {resource: value} of a job that holds models; the arguments are as ModelJob has them.

        models: a name may hold wildcards, as in `{base}` and `{scorer}`. on_gpu: may it use a GPU?
        tokens: None for scoring's budget.
        """
        launch = self.settings.launch if training is not None else None
        processes = launch["num_processes"] if launch else 1
        on_gpu = on_gpu and not (launch or {}).get("use_cpu", False)
        there = bool(self.site["gpu_partition"] if self.site else self.gpus)
        job = ModelJob(
            kind,
            self._by_wildcards(models),
            training,
            self.known,
            self.settings.precision,
            processes,
            on_gpu and there,
            minutes,
            self.settings.scoring.token_budget if tokens is None else tokens,
            processes if splits_state(launch) else 1,
        )
        if self.site is None:
            here = {"gpu": lambda wildcards: job.gpus(wildcards) if self.runs_here() else 0}
            return {"mem_mb": job} | (here if job.gpu else {})
        return {"mem_mb": job} | cluster_request(self.site, minutes, gpus=job.gpus if job.gpu else None)

    def for_tfidf(self, pairs: int | None, *, minutes: int) -> dict[str, Callable | int | str]:
        """Return the same of a job that fits TF-IDF on so many pairs; None for the few of scale mini."""
        mb = TABLE_MB + math.ceil(TFIDF_MB * (pairs or 0))
        return self.for_tables(mb=mb, minutes=minutes) or {"mem_mb": mb}

    def for_tables(self, *, mb: int, minutes: int) -> dict[str, Callable | int | str]:
        """Return the same of a job without a model that needs more than a cluster profile's default."""
        return {} if self.site is None else cluster_request(self.site, minutes, mb=mb)

    def _by_wildcards(self, models: str | dict | Callable) -> Callable[..., Iterable[str | dict]]:
        """Return a function of the wildcards: names in models.yaml, or entries of reward models."""
        if callable(models):
            return models
        if isinstance(models, dict):
            return lambda wildcards: [models]
        return lambda wildcards: [self.model(models.format(**dict(wildcards.items())))]

    def model(self, name: str) -> dict:
        """Return the entry of a model of models.yaml, or of a scorer: one trained here has its base's."""
        if name in self.known:
            return self.known[name]
        scorer = self.sheet.rows[name]
        return self.known[scorer.base] if scorer.trained_in else scorer.entry


def cluster_request(
    site: dict, minutes: int, mb: int | None = None, gpus: Callable[..., int] | None = None
) -> dict[str, Callable | int | str]:
    """Return {resource: value} of a job on a SLURM cluster; half as much again at each further attempt.

    gpus: how many, by the wildcards; where it returns 0 the job runs on CPUs.
    """
    found: dict = {"runtime": lambda wildcards, attempt: minutes * (attempt + 1) // 2}
    if mb is not None:
        found["mem_mb"] = lambda wildcards, attempt: mb * (attempt + 1) // 2
    if gpus is not None:
        found["gpu"] = lambda wildcards: gpus(wildcards) or None
        found["gpu_model"] = lambda wildcards: site["gpu_type"] if gpus(wildcards) else None
        found["slurm_partition"] = lambda wildcards: site["gpu_partition" if gpus(wildcards) else "partition"]
    return found


def written_at_once(rows: int, new_tokens: int) -> int:
    """Return the tokens of so many replies with their prompts, of PROMPT tokens each."""
    return rows * (PROMPT + new_tokens)


def too_large(jobs: Iterable[Job], room_gib: float) -> list[str]:
    """Return a line for each model that does not fit GPUs of so many GiB, with the rules that load it."""
    rules: dict[str, dict[str, None]] = {}
    for job in jobs:
        for entry in job.on_card:
            for problem in job.model.card_problems(entry, room_gib * 1024**3):
                rules.setdefault(f"{job.model.name(entry)} {problem}", {})[job.rule] = None
    return [f"{', '.join(names)}: {problem}" for problem, names in rules.items()]


def splits_state(launch: dict | None) -> bool:
    """Return whether processes split weights, gradients and the optimizer's state: FSDP, ZeRO-3."""
    kind = (launch or {}).get("distributed_type")
    return kind == "FSDP" or (kind == "DEEPSPEED" and launch["deepspeed_config"]["zero_stage"] == 3)


def shape_of(entry: dict, models: dict) -> dict | None:
    """Return the sizes of a model's layers: the catalog's; else of the known model of the nearest size."""
    if "model" in entry:
        return shape_of(models[entry["model"]], models)
    if "shape" in entry:
        return entry["shape"]
    known = {one["parameters_b"]: one["shape"] for one in models.values() if "shape" in one}
    billions = parameters_b(entry, models) or UNKNOWN_B
    nearest = min(known, key=lambda one: abs(math.log(one / billions)), default=None)
    return known.get(nearest)


def moments(optimizer: str) -> int:
    """Return the bytes on a card of a parameter's moments; a paged optimizer's may be in main memory."""
    if "paged" in optimizer:
        return 0
    return 2 if "8bit" in optimizer else 8


def gib(count: float) -> float:
    """Return bytes in GiB."""
    return count / 1024**3


def parameters_b(entry: dict, models: dict, unknown: float | None = UNKNOWN_B) -> float | None:
    """Return a model's billions of parameters: the catalog's, or by its folder's files; else `unknown`.

    entry: of models.yaml (`source`) or of a reward model (`path`, `hub`, `model`). Random models have 0.
    """
    if "parameters_b" in entry:
        return entry["parameters_b"]
    if "model" in entry:
        return parameters_b(models[entry["model"]], models, unknown)
    source = entry.get("source", {})
    if source.get("kind") == "random":
        return 0.0
    folder = Path(entry.get("path") or source.get("path") or os.devnull)
    return sum(_parameters(path) for path in folder.glob("*.safetensors")) / 1e9 or unknown


def _parameters(path: Path) -> int:
    """Return how many numbers a file of safetensors holds; 0 where it is no such file, as its job reports."""
    from safetensors import SafetensorError, safe_open  # with numpy, which the Snakefile does without

    try:
        with safe_open(path, "numpy") as file:
            return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except SafetensorError:
        return 0
