"""One machine's memory and GPUs: what its jobs ask for, what there is, and how much of it is handed out at a
time.

Only jobs that run on this machine are limited; a cluster limits its own. Standard library alone: the
Snakefile imports it."""

import fcntl
import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

# What a job takes in MB: PROGRAM + LOADED * its weights + WORK[kind] * sqrt(its weights). Loading holds pages
# of a file beside the weights; batches grow with a model's width, of which the weights are about the square.
# Peaks measured at scale mini, in MB, with SmolLM2 135M in float32 (538 MB of weights): reward_model 2,749,
# on Korean, whose texts are its longest; with Gemma 3 270M (1,072 MB): base_loglik_scores 2,998, dpo_policy
# 2,780, catalogued_reward_scores 2,543, sampled_responses 2,454, policy_answers 2,387, judgements 2,136,
# passage_states 1,834, cross_reward_scores 3,182 (SmolLM2 2,653), which keeps what the frozen layers make of
# four languages' texts, base_model, which makes float32 of 4-bit weights, 3,132, and locals_grpo 5,171.
# Supervised training and the scoring of CARB and of locals ask for what was put down for them before, not
# measured.
PROGRAM = 800
LOADED = 1.1
WORK = {"load": 36, "generate": 24, "score": 38, "score_long": 62, "train": 60, "supervise": 65, "grpo": 105}
# Beside weights that are all trained there are their gradients and AdamW's two moments, in float32.
FULL_TRAINING_MB = 12e3  # for a billion parameters
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
UNKNOWN_B = 0.3  # billions of parameters of a model that nothing is known of yet: of mini's size
TABLE_MB = 600  # of a job that holds no model: pandas, scikit-learn or matplotlib, and mini's tables; 549 at the most there

NAMES = {"mem_mb": "MB of memory", "gpu": "GPUs"}


def job_memory_mb(kind: str, weights_mb: float, full_training_b: float = 0.0) -> int:
    """Return the memory in MB that a job with a model asks for, rounded up to hundreds.

    kind: of WORK. weights_mb: of all models that are in memory at once. full_training_b: billions of
    parameters that are trained, where these are not adapters alone."""
    taken = (
        PROGRAM
        + LOADED * weights_mb
        + WORK[kind] * math.sqrt(weights_mb)
        + FULL_TRAINING_MB * full_training_b
    )
    return math.ceil(taken / 100) * 100


def model_memory_mb(
    kind: str, entries: Iterable[dict], models: dict, dtype: str = "float32", full_training: bool = False
) -> int:
    """Return the memory in MB that a job asks for which loads models one after another; TABLE_MB where it
    loads none here.

    kind: of WORK. entries: of models.yaml, or of reward models, whose `reference` is in memory beside them; a
    server's is not here. models: models.yaml. dtype: of entries that do not say."""
    asked = [TABLE_MB]
    for entry in entries:
        beside = [one for one in (entry, entry.get("reference")) if one and "server" not in one]
        billions = [parameters_b(one, models) for one in beside]
        weights_mb = sum(
            size * 1e3 * BYTES.get(one.get("dtype", dtype), 4)
            for size, one in zip(billions, beside, strict=True)
        )
        if beside:
            asked.append(job_memory_mb(kind, weights_mb, sum(billions) if full_training else 0.0))
    return max(asked)


def parameters_b(entry: dict, models: dict) -> float:
    """Return the billions of parameters of a model, as well as they are known.

    entry: of models.yaml (`source`) or of a reward model (`path`, `hub`, `model`); models: models.yaml. By
    the catalog's `parameters_b`; of a folder by its files; 0 for random ones, which are tiny; else
    UNKNOWN_B."""
    if "parameters_b" in entry:
        return entry["parameters_b"]
    if "model" in entry:
        return parameters_b(models[entry["model"]], models)
    source = entry.get("source", {})
    if source.get("kind") == "random":
        return 0.0
    folder = Path(entry.get("path") or source.get("path") or os.devnull)
    tensors = sum(_parameters(path) for path in folder.glob("*.safetensors"))
    pickled = (
        sum(path.stat().st_size for path in folder.glob("pytorch_model*.bin")) / 2
    )  # in bfloat16, or fewer
    return (tensors or pickled) / 1e9 or UNKNOWN_B


def _parameters(path: Path) -> int:
    """Return how many numbers a file of safetensors holds, by its header; none where it is no such file, as a
    job will say."""
    with path.open("rb") as file:
        try:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            return sum(
                math.prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__"
            )
        except (ValueError, OverflowError, MemoryError, AttributeError, KeyError, TypeError):
            return 0


@dataclass(frozen=True)
class Machine:
    """What this machine has: memory in MB (a container's, where it runs in one), what of it jobs get, and
    CUDA devices."""

    memory_mb: int
    devices: int

    @classmethod
    def here(cls) -> "Machine":
        """Return this machine."""
        return cls(memory_mb(), cuda_devices())

    @property
    def reserve_mb(self) -> int:
        """Return what is left to the system, Snakemake and a person's other programs: a tenth, 1.5 GB at
        least."""
        return min(max(1500, self.memory_mb // 10), self.memory_mb // 2)

    def has(self) -> dict[str, int]:
        """Return {resource: all that there is}."""
        return {"mem_mb": self.memory_mb, "gpu": self.devices}

    def handed_out(self) -> dict[str, int]:
        """Return {resource: what jobs get where nobody says otherwise}."""
        return {"mem_mb": self.memory_mb - self.reserve_mb, "gpu": self.devices}


def memory_mb(root: Path = Path("/")) -> int:
    """Return the physical memory in MB, or the limit of the control group that this process is in, where that
    is lower.

    root: of the file system, for tests."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *_control_group_limits(root)]) // 10**6


def _control_group_limits(root: Path) -> Iterator[int]:
    """Yield the limits in bytes of this process's control group and all above it, of either version."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        mount, name = (
            ("sys/fs/cgroup", "memory.max")
            if not controllers
            else ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        )
        folder = root / mount / group.lstrip("/")
        # In a container the group may be named as the host sees it, and its files lie at the mount itself.
        for place in [folder, *folder.parents]:
            if place.is_relative_to(root / mount) and (place / name).is_file():
                text = (place / name).read_text(encoding="ascii").strip()
                if text.isdecimal():  # else `max`, for none
                    yield int(text)


def cuda_devices(root: Path = Path("/")) -> int:
    """Return how many GPUs PyTorch may use here: those of CUDA_VISIBLE_DEVICES, or all; without importing
    torch.

    root: of the file system, for tests. A PyTorch that is built for CPUs uses none."""
    if not _torch_has_gpu_build():
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = _device_files(root)
    if visible is None:
        return found
    named = [name.strip() for name in visible.split(",") if name.strip()]
    before = (
        named.index("-1") if "-1" in named else len(named)
    )  # CUDA ignores what follows a number that is none
    return min(found, before)


def _device_files(root: Path) -> int:
    nvidia = [
        path for path in (root / "dev").glob("nvidia[0-9]*") if path.name.removeprefix("nvidia").isdecimal()
    ]
    if nvidia:
        return len(nvidia)
    if (root / "dev/kfd").exists():  # AMD: a CPU's node says 0
        nodes = (root / "sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id")
        return sum(path.read_text(encoding="ascii").strip() not in ("", "0") for path in nodes) or 1
    return int((root / "dev/dxg").exists())  # Windows' through WSL


def _torch_has_gpu_build() -> bool:
    """Return whether the installed PyTorch is built for GPUs; true where none is, as jobs may have
    environments of their own."""
    found = find_spec("torch")
    places = (found and found.submodule_search_locations) or []
    for folder in places:
        path = Path(folder, "version.py")
        if path.is_file():
            return bool(
                re.search(r"^(?:cuda|hip)\b[^=\n]*= *['\"]", path.read_text(encoding="utf-8"), re.MULTILINE)
            )
    return True


def machine_problems(workflow, jobs: Iterable, machine: Machine) -> Iterator[str]:
    """Yield what is wrong with what the run may use of this machine, and each rule whose job alone needs more
    than that.

    workflow, jobs: Snakemake's; jobs are all that are to be run."""
    stated, limits = given(workflow), {**machine.handed_out(), **given(workflow)}
    for name, value in stated.items():
        if value > machine.has()[name]:
            there = machine.has()[name]
            yield (
                f"the command line or a profile hands out {name}={value}, and this machine has {there}; give"
                f" at most that (`--resources {name}={there}`), or leave it out: then jobs get"
                f" {machine.handed_out()[name]}"
            )
    for rule, asked in sorted(requests(workflow, jobs).items()):
        for name, value in asked.items():
            if value > limits[name]:
                there = _what_there_is(name, name in stated, machine, limits)
                ways = (
                    _more_memory(rule, value, machine)
                    if name == "mem_mb"
                    else "use a machine with as many, or ask for fewer"
                )
                yield f"{rule}: a job asks for {value} {NAMES[name]}, and {there}; {ways}"


def _what_there_is(name: str, stated: bool, machine: Machine, limits: dict[str, int]) -> str:
    if stated:
        return f"the command line or a profile hands out {limits[name]}"
    if name == "mem_mb":
        return (
            f"there are {limits[name]} (this machine's {machine.memory_mb}, less {machine.reserve_mb} for all"
            " else)"
        )
    return f"there are {limits[name]}"


def _more_memory(rule: str, value: int, machine: Machine) -> str:
    fits = (
        f"hand out more (`--resources mem_mb={value}`), with other programs closed; "
        if value <= machine.memory_mb
        else ""
    )
    return (
        f"{fits}use a machine with more, or a smaller model or batches; or ask for less, if `polyreward"
        f" costs` says that it takes less (`--set-resources {rule}:mem_mb=...`)"
    )


def given(workflow) -> dict[str, int]:
    """Return {resource: number} of what a person said that jobs may use, by `--resources` or a profile's
    `resources`."""
    stated = {name: workflow.global_resources.get(name) for name in NAMES}
    return {
        name: value.value
        for name, value in stated.items()
        if value is not None and isinstance(value.value, int)
    }


def requests(workflow, jobs: Iterable) -> dict[str, dict[str, int]]:
    """Return {rule: {resource: the most that one of its jobs asks for}}, before Snakemake cuts it to what may
    be used."""
    limits, asked = workflow.global_resources, {}
    stated = {name: limits[name] for name in NAMES if name in limits}
    for name in stated:
        limits[name] = None
    try:
        for job in jobs:
            found = job.rule.expand_resources(job.wildcards_dict, job.input, job.attempt)
            most = asked.setdefault(job.rule.name, {})
            for name in NAMES:
                value = found.get(name)
                if isinstance(value, int):  # not known before an input is there, else
                    most[name] = max(value, most.get(name, 0))
    finally:
        for name, value in stated.items():
            limits[name] = value
    return asked


def ask_for_tables(rules: Iterable) -> None:
    """Have Snakemake's rules that say nothing of memory ask for TABLE_MB."""
    for rule in rules:
        if "mem_mb" not in rule.resources:
            rule.resources["mem_mb"] = TABLE_MB


def hand_out(workflow) -> None:
    """Let Snakemake run no more jobs at a time than this machine's memory and GPUs hold; for `onstart`, after
    stop_early.

    Does nothing where jobs run elsewhere. What a person gave by `--resources` stands."""
    if workflow.executor_plugin.name != "local":
        return
    ask_for_tables(workflow.rules)
    for name, value in {**Machine.here().handed_out(), **given(workflow)}.items():
        workflow.scheduler.global_resources[name] = value
        workflow.register_resource(name, value)


def take_gpus(count: int) -> None:
    """Show this process `count` CUDA devices that no other job here has; call it before importing torch.

    A device is taken by a lock on a file, which ends with the process. Does nothing on a cluster, which does
    that itself, where a job takes all devices, and where fewer are free (jobs of a second run, say): then it
    sees all of them."""
    found = cuda_devices()
    if not 0 < count < found or "SLURM_JOB_ID" in os.environ:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",")[:found] if visible else [str(number) for number in range(found)]
    taken = _locked([name.strip() for name in names], count)
    if taken:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(taken)


def _locked(names: Sequence[str], count: int) -> list[str]:
    """Return `count` of the devices, locked until this process ends; none where so many are not free."""
    folder = Path(tempfile.gettempdir(), f"polyreward-gpus-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    taken = {}
    for name in names:
        file = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        taken[name] = file  # stays open: that is the lock
        if len(taken) == count:
            return list(taken)
    for file in taken.values():
        os.close(file)
    return []
