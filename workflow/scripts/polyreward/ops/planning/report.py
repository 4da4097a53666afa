"""The plan of a scale as text: jobs, hours, memory, tokens, disk, money, and what does not fit."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.tables import as_markdown
from polyreward.ops.planning.sized_scale import SizedScale, read_scale
from polyreward.ops.planning.work import Job, Sizes, planned_jobs, work_table
from polyreward.ops.resources import parameters_b

GIB = 1024**3
TRAINED = ("train", "supervise", "grpo")
SOURCES = """\
- **Tokens** are those of a job's input files, by the settings and the catalogs, as often as it reads them.
- **GPU hours** are estimates: tokens by the model's parameters over the card's tokens/s. They may be off by a
  factor of two. The card is {gpu} ({source}). workflow/catalog/throughputs.yaml has the speeds, each with its
  source. Those that `make gpu-check` measured replace them.
- **Measured hours** are the wall time of jobs that have run, by the benchmark files in {results}/benchmarks.
- **GiB of a GPU** and **memory** are what the largest job takes of each GPU, and asks this machine for, by
  the size of its models (polyreward/ops/resources.py).
- **Disk** is models' parameters by bytes on disk, **money** tokens by the prices in throughputs.yaml."""
# Columns of by_rule, and their names in the plan
COLUMNS = {
    "rule": "rule",
    "jobs": "jobs",
    "hours": "GPU hours",
    "measured": "measured hours",
    "measured_jobs": "measured jobs",
    "gpu_gib": "GiB of a GPU",
    "memory": "memory (GB)",
    "read": "read (M tokens)",
    "written": "written (M tokens)",
}


def plan_text(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> str:
    """Return the whole plan in Markdown."""
    scale, jobs = read_scale(configfiles, root), planned_jobs(targets, configfiles, root)
    table, gpu = work_table(jobs, scale), scale.facts["gpu"]
    results, disk, hours = scale.settings.results, disk_gib(jobs, scale), table["hours"].sum()
    problems = [*too_large(jobs, scale), *missing_disk(sum(disk.values()), root / results)]
    days = f"{hours / gpu['count'] / 24:,.1f} days on {gpu['count']}"
    asked, servers = dollars(table, scale.facts["prices"]), "No server is asked."
    if not asked.empty:
        servers = (
            f"{_markdown(asked)}\n\nIn all {asked['USD'].sum():,.0f} USD. nan: served by you, or no price."
        )
    parts = [
        f"# Scale {results}: {len(jobs)} jobs, {hours:,.0f} GPU hours on {gpu['name']} ({days})",
        SOURCES.format(gpu=gpu["name"], source=scale.facts["gpu_source"], results=results),
        "## What does not fit",
        _listed(problems) or "Models of known size and the disk do.",
        "## Keys",
        _listed(missing_keys(jobs, scale, os.environ)) or "None is missing.",
        "## Jobs",
        _markdown(by_rule(table, jobs, gpu, root)),
        "## Disk (GiB)",
        _markdown(pd.DataFrame(disk.items(), columns=["what", "GiB"])),
        "## Servers",
        servers,
    ]
    unknown = ", ".join(sorted(set(table["model"][table["hours"].isna()])))
    if unknown:
        parts.append(f"GPU hours leave out models without `parameters_b` in the catalog: {unknown}.")
    return "\n\n".join(parts)


def by_rule(table: pd.DataFrame, jobs: Sequence[Job], gpu: Mapping, root: Path) -> pd.DataFrame:
    """Return what the jobs of each rule take, the dearest first; rules without work of a model in one row."""
    rows = []
    for job in jobs:
        path = root / (job.benchmark or os.devnull)
        ran = path.is_file()
        measured = pd.read_csv(path, sep="\t", na_values="-")["s"].mean() / 3600 if ran else float("nan")
        needs = [need for _, need, _ in on_card(job, gpu)]
        rows.append((job.rule, 1, measured, max(needs, default=0.0), job.mem_mb / 1e3))
    counted = pd.DataFrame(rows, columns=["rule", "jobs", "measured", "gpu_gib", "memory"])
    work = table.groupby("rule")[["hours", "read", "written"]].sum()
    counted["rule"] = counted["rule"].where(counted["rule"].isin(work.index), "all others")
    rules = counted.groupby("rule").agg(
        jobs=("jobs", "sum"),
        measured=("measured", lambda hours: hours.sum(min_count=1)),
        measured_jobs=("measured", "count"),
        gpu_gib=("gpu_gib", "max"),
        memory=("memory", "max"),
    )
    rules = rules.join(work).fillna({"hours": 0, "read": 0, "written": 0})
    rules = rules.sort_values("hours", ascending=False, kind="stable").reset_index()
    rules[["read", "written"]] /= 1e6
    ran = rules["measured_jobs"].any()
    shown = [name for name in COLUMNS if ran or not name.startswith("measured")]
    return rules[shown].rename(columns=COLUMNS)


def dollars(table: pd.DataFrame, prices: Mapping) -> pd.DataFrame:
    """Return what servers are asked: model, M tokens read and written, USD or NaN without a price."""
    rows = []
    served = table[table["kind"] == "server"].groupby("model", sort=False)[["read", "written"]].sum() / 1e6
    for model, asked in served.iterrows():
        price = prices.get(model, {"read": float("nan"), "written": float("nan")})
        usd = sum(asked[what] * price[what] for what in ("read", "written"))
        rows.append((model, asked["read"], asked["written"], usd))
    return pd.DataFrame(rows, columns=["model", COLUMNS["read"], COLUMNS["written"], "USD"])


def disk_gib(jobs: Sequence[Job], scale: SizedScale) -> dict[str, float]:
    """Return GiB by what takes them; models whose size is not known are left out."""
    bytes_of, known = scale.facts["bytes_per_parameter"], scale.catalogs["models"]
    fetched = [known[job.wildcards.base] for job in jobs if job.rule == "base_model"]
    loaded = [one for job in jobs for entry in job.held for one in _with_reference(entry)]
    ready_made = {one["hub"]: one for one in loaded if "hub" in one}
    trained = [job.held[0] for job in jobs if job.model and job.model.kind in TRAINED]

    def total(entries: Iterable[dict], per_parameter: float) -> float:
        return sum((parameters_b(one, known, None) or 0) * 1e9 * per_parameter for one in entries) / GIB

    sizes = Sizes(scale)
    texts = [sizes.of(path) for path in {path for job in jobs for path in job.input}]
    characters = sum(file.read for file in texts if file) * scale.facts["text"]["characters_per_token"]
    checkpoints = [total([one], 2 * bytes_of["checkpoint"]) for one in trained]
    return {
        "models from the hub or packages": total([*fetched, *ready_made.values()], bytes_of["fetched"]),
        "trained models": total(trained, bytes_of["trained"]),
        "two checkpoints of the largest training": max(checkpoints, default=0.0),
        "texts in all languages": characters / GIB,
    }


def _with_reference(entry: dict) -> list[dict]:
    return [entry, *([entry["reference"]] if "reference" in entry else [])]


def missing_disk(needed_gib: float, results: Path) -> list[str]:
    """Return a line where the disk of the results has less free than the scale takes."""
    there = next(path for path in (results, *results.parents) if path.exists())
    free = shutil.disk_usage(there).free / GIB
    if free >= needed_gib:
        return []
    return [
        f"The scale takes {needed_gib:,.0f} GiB of disk, and that of {there} has {free:,.0f} free (what is"
        " made already needs no more). Free some, or take a larger disk: `results` for what is made, HF_HOME"
        " for models from the hub"
    ]


def on_card(job: Job, gpu: Mapping) -> Iterator[tuple[dict, float, int]]:
    """Yield each model that a job has on a card's GPUs, the GiB that it takes of each, and their number."""
    if job.model is None or job.model.kind == "load":
        return
    for entry in job.model.entries(job.wildcards):
        weights, training = job.model.held_mb(entry, auto="bfloat16")
        devices = gpu["count"] if training else entry.get("gpus", 1)
        yield entry, job.model.computing_mb(weights, training) * 1e6 / devices / GIB, devices


def too_large(jobs: Sequence[Job], scale: SizedScale) -> list[str]:
    """Return a line for each model that does not fit the card, with the rules that need it there."""
    gpu = scale.facts["gpu"]
    room = gpu["memory_gib"]
    needs, rules = {}, {}
    for job in jobs:
        for entry, need, devices in on_card(job, gpu):
            problems = list(_vllm_too_large(job, entry, need, room))
            if need > room:
                on = f"each of {devices} GPUs" if devices > 1 else "one GPU"
                problems.insert(0, f"needs {{}} GiB on {on}")
            for problem in problems:
                key = f"{job.model.name(entry)} {problem}"
                needs[key] = max(need, needs.get(key, 0.0))
                rules.setdefault(key, []).append(job.rule)
    return [
        f"{problem.format(round(needs[problem]))}, where {gpu['name']} has {room:.0f}:"
        f" {', '.join(dict.fromkeys(names))}. Take larger GPUs, or more; spread a judge (`gpus`),"
        " or serve it (`server`); or lower vllm_gpu_share"
        for problem, names in rules.items()
    ]


def _vllm_too_large(job: Job, entry: dict, training_gib: float, room: float) -> Iterator[str]:
    settings = job.model.training if job.model.kind == "grpo" else None
    if not settings or not settings.vllm:
        return
    share = settings.vllm_gpu_share * room
    billions = parameters_b(entry, job.model.known)
    copy = 1.2 * billions * 2e9 / settings.vllm_tensor_parallel / GIB  # a fifth for replies under way
    if copy > share:
        yield f"vLLM's copy takes {copy:.0f} GiB of each GPU, and vllm_gpu_share gives it {share:.0f}"
    if training_gib + share > room:
        yield f"training takes {training_gib:.0f} GiB of each GPU and vLLM {share:.0f}"


def missing_keys(jobs: Sequence[Job], scale: SizedScale, environment: Mapping[str, str]) -> list[str]:
    """Return a line for each key that the jobs' models, data or servers need and the environment lacks."""
    wanted: dict[str, set[str]] = {}
    for job in jobs:
        kind = {"base_model": "models", "dataset": "datasets"}.get(job.rule)
        name = job.wildcards.get("base") or job.wildcards.get("dataset")
        if kind and "gated" in scale.catalogs[kind][name].get("terms", ""):
            wanted.setdefault("HF_TOKEN", set()).add(name)
        for server in (one.get("server", {}) for entry in job.held for one in _with_reference(entry)):
            if "api_key_variable" in server:
                wanted.setdefault(server["api_key_variable"], set()).add(server["model"])
    how = {"HF_TOKEN": " (gated): accept their terms on the hub and set it, or `hf auth login`"}
    return [
        f"{variable} is not set, and {', '.join(sorted(names))} want it{how.get(variable, '')}"
        for variable, names in wanted.items()
        if not environment.get(variable)
    ]


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _markdown(table: pd.DataFrame) -> str:
    return as_markdown(table, floatfmt=",.1f", intfmt=",", missingval="")
