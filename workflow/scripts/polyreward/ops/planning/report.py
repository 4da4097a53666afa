"""The plan of a scale as text: jobs, hours, memory, tokens, disk, money, and what does not fit."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from polyreward.ops.planning.sized_scale import SizedScale, read_scale
from polyreward.ops.planning.work import Job, Sizes, planned_jobs, work_table
from polyreward.ops.resources import parameters_b

GIB = 1024**3
TRAINED = ("train", "supervise", "grpo")
SOURCES = """\
- **Tokens** are those of a job's input files, by the settings and the catalogs, as often as the job reads them.
- **GPU hours** are estimates: tokens by the model's parameters over the card's tokens/s. They may be off by a factor of
  two. The card is {gpu} ({source}). workflow/catalog/throughputs.yaml has the speeds, each with its source; those that
  `make gpu-check` measured replace them.
- **Measured hours** are the wall time of jobs that have run, by the benchmark files in {results}/benchmarks.
- **GiB of a GPU** and **memory** are what the largest job takes of each GPU of that card, and what it asks this machine
  for, by the size of its models (polyreward/ops/resources.py).
- **Disk** is models' parameters by bytes on disk, **money** tokens by the prices in throughputs.yaml."""


def plan_text(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> str:
    """Return the whole plan in Markdown."""
    scale, jobs = read_scale(configfiles, root), planned_jobs(targets, configfiles, root)
    table, gpu = work_table(jobs, scale), scale.facts["gpu"]
    results, disk = scale.settings.results, disk_gib(jobs, scale)
    rules, hours = by_rule(table, jobs, gpu, root), table["hours"].sum()
    problems = [*too_large(jobs, scale), *lacking_disk(sum(disk.values()), root / results)]
    parts = [
        (
            f"# Scale {results}: {len(jobs)} jobs, {hours:,.0f} GPU hours on {gpu['name']}"
            f" ({hours / gpu['count'] / 24:,.1f} days on {gpu['count']})"
        ),
        SOURCES.format(gpu=gpu["name"], source=scale.facts["gpu_source"], results=results),
        "## What does not fit",
        _listed(problems, "Models of known size and the disk do."),
        "## Keys",
        _listed(missing_keys(jobs, scale, os.environ), "None is missing."),
        "## Jobs",
        _markdown(rules),
        "## Tokens",
        _markdown(tokens(table)),
        "## Disk (GiB)",
        _markdown(pd.DataFrame(disk.items(), columns=["what", "GiB"])),
        "## Servers",
        _servers(dollars(table, scale.facts["prices"])),
    ]
    unknown = sorted(set(table["model"][table["hours"].isna()]))
    if unknown:
        parts.append(
            f"GPU hours leave out models whose size is not in the catalog (`parameters_b`): {', '.join(unknown)}."
        )
    return "\n\n".join(parts)


def by_rule(table: pd.DataFrame, jobs: Sequence[Job], gpu: Mapping, root: Path) -> pd.DataFrame:
    """Return what the jobs of each rule take, the dearest first; rules without work of a model in one row."""
    rows = [
        (
            job.rule,
            1,
            measured_h(job, root),
            max((need for _, need, _ in on_card(job, gpu)), default=0.0),
            job.mem_mb / 1e3,
        )
        for job in jobs
    ]
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
    rules["read"], rules["written"] = rules["read"] / 1e6, rules["written"] / 1e6
    names = {
        "rule": "rule", "jobs": "jobs", "hours": "GPU hours", "measured": "measured hours",
        "measured_jobs": "measured jobs", "gpu_gib": "GiB of a GPU", "memory": "memory (GB)", "read": "read (M tokens)",
        "written": "written (M tokens)",
    }  # fmt: skip
    rules = (
        rules[list(names)]
        if rules["measured_jobs"].any()
        else rules[[name for name in names if not name.startswith("measured")]]
    )
    return rules.rename(columns=names)


def measured_h(job: Job, root: Path) -> float:
    """Return the hours that a job took by its benchmark file, or NaN where it has not run."""
    path = root / (job.benchmark or os.devnull)
    return pd.read_csv(path, sep="\t", na_values="-")["s"].mean() / 3600 if path.is_file() else float("nan")


def tokens(table: pd.DataFrame) -> pd.DataFrame:
    """Return millions of tokens by what is done with them."""
    here, served = table[table["kind"] != "server"], table[table["kind"] == "server"]
    trained = here.loc[here["kind"] == "train", "read"].sum()
    found = {
        "trained on": trained,
        "scored or read": here["read"].sum() - trained,
        "generated": here["written"].sum(),
        "read by servers": served["read"].sum(),
        "written by servers": served["written"].sum(),
    }
    return pd.DataFrame(
        [(what, count / 1e6) for what, count in found.items()], columns=["tokens", "millions"]
    )


def dollars(table: pd.DataFrame, prices: Mapping) -> pd.DataFrame:
    """Return {model, read, written, usd} of what servers are asked; NaN where a model has no price."""
    asked = (
        table[table["kind"] == "server"]
        .groupby("model", sort=False, as_index=False)[["read", "written"]]
        .sum()
    )
    unknown = {"read": float("nan"), "written": float("nan")}
    price = pd.DataFrame([prices.get(model, unknown) for model in asked["model"]], columns=list(unknown))
    return asked.assign(usd=(asked[["read", "written"]] * price).sum(axis=1, skipna=False) / 1e6)


def disk_gib(jobs: Sequence[Job], scale: SizedScale) -> dict[str, float]:
    """Return GiB by what takes them; models whose size is not known are left out."""
    bytes_of, known = scale.facts["bytes_per_parameter"], scale.catalogs["models"]
    fetched = [known[job.wildcards.base] for job in jobs if job.rule == "base_model"]
    ready = {
        one["hub"]: one
        for job in jobs
        for entry in job.held
        for one in _with_reference(entry)
        if "hub" in one
    }
    trained = [job.held[0] for job in jobs if job.model and job.model.kind in TRAINED]

    def total(entries: Iterable[dict], per_parameter: float) -> float:
        return sum((parameters_b(one, known, None) or 0) * 1e9 * per_parameter for one in entries) / GIB

    sizes = Sizes(scale)
    texts = [sizes.of(path) for path in {path for job in jobs for path in job.input}]
    characters = scale.facts["text"]["characters_per_token"]
    return {
        "models from the hub or packages": total([*fetched, *ready.values()], bytes_of["fetched"]),
        "trained models": total(trained, bytes_of["trained"]),
        "two checkpoints of the largest training": max(
            (total([one], 2 * bytes_of["checkpoint"]) for one in trained), default=0.0
        ),
        "texts in all languages": sum(file.read for file in texts if file) * characters / GIB,
    }


def _with_reference(entry: dict) -> list[dict]:
    return [entry, *([entry["reference"]] if "reference" in entry else [])]


def lacking_disk(needed_gib: float, results: Path) -> list[str]:
    """Return a line where the disk of the results has less free than the scale takes."""
    there = next(path for path in (results, *results.parents) if path.exists())
    free = shutil.disk_usage(there).free / GIB
    if free >= needed_gib:
        return []
    return [
        f"The scale takes {needed_gib:,.0f} GiB of disk, and that of {there} has {free:,.0f} free (what is made"
        " already needs no more). Free some, or take a larger disk: `results` for what is made, HF_HOME"
        " for models from the hub"
    ]


def on_card(job: Job, gpu: Mapping) -> Iterator[tuple[dict, float, int]]:
    """Yield each model that a job has on a card's GPUs, the GiB that it takes of each, and how many they are."""
    if job.model is None or job.model.kind == "load":
        return
    for entry in job.model.entries(job.wildcards):
        weights, training = job.model.held_mb(entry, auto="bfloat16")
        devices = gpu["count"] if training else entry.get("gpus", 1)
        yield entry, job.model.computing_mb(weights, training) * 1e6 / devices / GIB, devices


def too_large(jobs: Sequence[Job], scale: SizedScale) -> list[str]:
    """Return a line for each model that does not fit the card, with the rules that need it there."""
    gpu = scale.facts["gpu"]
    room, rules = gpu["memory_gib"], {}
    needs: dict[str, float] = {}
    for job in jobs:
        for entry, need, devices in on_card(job, gpu):
            on = f"each of {devices} GPUs" if devices > 1 else "one GPU"
            name = job.model.name(entry)
            lines = [f"needs {{}} GiB on {on}"] if need > room else []
            for line in lines + list(_vllm_too_large(job, entry, need, room)):
                key = f"{name} {line}"
                needs[key] = max(need, needs.get(key, 0.0))
                rules.setdefault(key, []).append(job.rule)
    return [
        f"{line.format(round(needs[line]))}, where {gpu['name']} has {room:.0f}:"
        f" {', '.join(dict.fromkeys(names))}. Take larger GPUs, or more; spread a judge (`gpus` of its entry), or"
        " serve it (`server`); or lower vllm_gpu_share"
        for line, names in rules.items()
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
    """Return a line for each key that the jobs' models, data or servers want and that is not set.

    environment: variables and their values."""
    wanted: dict[str, set[str]] = {}
    for job in jobs:
        kind = {"base_model": "models", "dataset": "datasets"}.get(job.rule)
        name = job.wildcards.get("base") or job.wildcards.get("dataset")
        if kind and "gated" in scale.catalogs[kind][name].get("terms", ""):
            wanted.setdefault("HF_TOKEN", set()).add(name)
        for entry in job.held:
            for server in (one["server"] for one in _with_reference(entry) if "server" in one):
                if "api_key_variable" in server:
                    wanted.setdefault(server["api_key_variable"], set()).add(server["model"])
    return [
        f"{variable} is not set, and {', '.join(sorted(names))} want it"
        + (
            " (gated): accept their terms on the hub and set it, or `hf auth login`"
            if variable == "HF_TOKEN"
            else ""
        )
        for variable, names in wanted.items()
        if not environment.get(variable)
    ]


def _servers(asked: pd.DataFrame) -> str:
    if asked.empty:
        return "No server is asked."
    total = asked["usd"].sum()
    table = asked.assign(read=asked["read"] / 1e6, written=asked["written"] / 1e6)
    table.columns = ["model", "read (M tokens)", "written (M tokens)", "USD"]
    return (
        f"{_markdown(table)}\n\nIn all {total:,.0f} USD. nan: served by you, or no price in throughputs.yaml."
    )


def _listed(lines: Sequence[str], none: str) -> str:
    return "\n".join(f"- {line}" for line in lines) or none


def _markdown(table: pd.DataFrame) -> str:
    return table.to_markdown(index=False, floatfmt=",.1f", intfmt=",", missingval="")
