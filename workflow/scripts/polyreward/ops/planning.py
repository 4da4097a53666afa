"""What a run would take: its jobs with their times and memory, what does not fit, missing keys, and disk."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import as_markdown
from polyreward.ops.hours import QUESTION, Estimate, card_speeds
from polyreward.ops.machine import cuda_devices
from polyreward.ops.memory import gib
from polyreward.ops.progress import duration, known_seconds, reference_seconds
from polyreward.ops.resources import Job, parameters_b, too_large, unset_keys
from polyreward.ops.scales import nearest_artifact
from polyreward.ops.workflow import described, dry_run_jobs
from polyreward.scoring.generative import NEW_TOKENS
from polyreward.sheet.entries import Models, read_models

TRAINED = ("train", "supervise", "grpo")
# Bytes of a parameter on disk; a checkpoint has weights and AdamW's moments in float32
FETCHED, SAVED, CHECKPOINT = 2, 4, 16
SOURCES = """\
- **Hours** are the mean time of a rule's jobs below {times}, or else in the scale's
  reference run (docs/data/), times its jobs; empty where none ran.
- **Limit** is the time after which a cluster ends a job (`minutes` in workflow/rules/), for the papers' own
  models on GPUs of 80 GB.
- **Estimate** is of hours in which models compute, one job after another, each on the GPUs that it asks for
  (polyreward/ops/hours.py), by {card}.
- **GiB of a GPU** and **memory** are what the largest job takes of each GPU, and asks this machine for, by
  the size of its models (polyreward/ops/resources.py)."""


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> list[Job]:
    """Return the jobs of a run from nothing; raise Snakemake's own words where it does not resolve."""
    with contextlib.chdir(root):
        try:
            return [described(job) for job in dry_run_jobs(targets, configfiles)]
        except PolyrewardError as error:
            raise PolyrewardError(nearest_artifact(str(error), root)) from None


def plan_text(
    targets: Sequence[str], configfiles: Sequence[str], root: Path, throughputs: Path | None = None
) -> str:
    """Return the whole plan in Markdown; throughputs: what gpu-check wrote of the card."""
    models, jobs = read_models(configfiles, root), planned_jobs(targets, configfiles, root)
    results, room = root / models.settings.results, models.settings.devices.gpu_gib
    speeds = read_speeds(throughputs) if throughputs else {}
    estimate, disk = Estimate(models, card_speeds(room, speeds)), disk_gib(jobs, models)
    reference = {rule: [mean] for rule, mean in reference_seconds(results).items()}
    table = by_rule(jobs, reference | known_seconds(results / "benchmarks"), estimate)
    card = "gpu-check's speeds" if speeds else f"a data sheet's speeds of a GPU of {room:.0f} GiB"
    problems = [*too_large(jobs, room), *too_long(jobs, estimate), *missing_disk(sum(disk.values()), results)]
    parts = [
        f"# Scale {models.settings.results}: {len(jobs)} jobs",
        time_text(table, card, cuda_devices() > 0),
        SOURCES.format(times=results / "benchmarks", card=card),
        "## What does not fit",
        _listed(problems) or "Models of known size and the disk do.",
        "## Keys",
        _listed(missing_keys(jobs, models, os.environ)) or "None is missing.",
        "## Judges on servers",
        _judges(asked_of_servers(jobs, estimate)),
        "## Jobs",
        as_markdown(table.round(1).astype(object).fillna(""), floatfmt=",.1f", intfmt=","),
        "## Disk of models (GiB)",
        _listed(f"{what}: {size:,.1f}" for what, size in disk.items()),
    ]
    return "\n\n".join(parts)


def time_text(table: pd.DataFrame, card: str, has_gpu: bool) -> str:
    """Return how long the jobs take, by what was measured, and what is only estimated; table: of by_rule."""
    ran = table["hours"].notna()
    known, others = table[ran], table[~ran & (table["estimate"] > 0)]
    lines = []
    if len(known):
        took = duration(3600 * known["hours"].sum())
        lines.append(
            f"Jobs whose rules ran: {known['jobs'].sum()}. They take about {took} one after another, and"
            " half of that on two cores if the longest chain of jobs allows."
        )
    if len(others):
        hours, here = (
            duration(3600 * others["estimate"].sum()),
            "" if has_gpu else ", which this machine lacks",
        )
        lines.append(
            f"Jobs with models whose rules never ran: {others['jobs'].sum()}. No time of theirs is"
            f" measured. By {card}{here}, they take about {hours}. A CPU takes many times that."
        )
    return " ".join(lines) or "No job computes with a model, and none of these rules ran."


def read_speeds(path: Path) -> dict[str, float]:
    """Return a card's speeds as gpu-check writes them: see hours.DATA_SHEETS."""
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
        return {kind: float(value) for kind, value in measured.items() if kind != "peak_gib"}
    except (ValueError, TypeError, AttributeError) as error:
        raise PolyrewardError(f"{path}: not what `polyreward gpu-check` writes; run it again") from error


def by_rule(jobs: Sequence[Job], seconds: Mapping[str, list[float]], estimate: Estimate) -> pd.DataFrame:
    """Return what the jobs of each rule take, the longest first; seconds: of jobs that ran, by rule."""
    rows = [
        {
            "rule": job.rule,
            "jobs": 1,
            "hours": fmean(seconds[job.rule]) / 3600 if seconds.get(job.rule) else float("nan"),
            "estimate": estimate.seconds(job) / 3600,
            "limit of a job (hours)": job.model.minutes / 60 if job.model else 0.0,
            "GiB of a GPU": max((gib(sum(job.model.card_bytes(one))) for one in job.on_card), default=0.0),
            "memory (GB)": job.model(job.wildcards) / 1e3 if job.model else 0.0,
        }
        for job in jobs
    ]
    columns = dict.fromkeys(list(rows[0])[1:], "max") | {"jobs": "sum", "estimate": "sum"}
    columns["hours"] = lambda hours: hours.sum(min_count=1)
    table = pd.DataFrame(rows).groupby("rule").agg(columns)
    order = ["hours", "estimate", "GiB of a GPU"]
    return table.sort_values(order, ascending=False, kind="stable").reset_index()


def too_long(jobs: Sequence[Job], estimate: Estimate) -> list[str]:
    """Return a line for each rule with a job that would not end within its limit on a cluster."""
    longest: dict[str, tuple[float, float]] = {}
    for job in jobs:
        if job.model:
            found = estimate.seconds(job) / 3600, job.model.minutes / 60
            longest[job.rule] = max(found, longest.get(job.rule, found))
    return [
        f"{rule}: a job takes about {hours:.0f} hours, and a cluster ends it after {limit:.0f}; raise"
        " `minutes` in its rule, or take a faster GPU"
        for rule, (hours, limit) in longest.items()
        if hours > limit
    ]


def disk_gib(jobs: Sequence[Job], models: Models) -> dict[str, float]:
    """Return GiB by what takes them; models whose size is not known are left out."""
    known = models.catalog.models
    fetched = [known[job.wildcards.base] for job in jobs if job.rule == "base_model"]
    ready_made = {one["hub"]: one for job in jobs for one in job.held if "hub" in one}
    trained = [job.held[0] for job in jobs if job.model and job.model.kind in TRAINED]

    def total(entries: Iterable[dict], per_parameter: float) -> float:
        return gib(sum((parameters_b(one, known, None) or 0) * 1e9 * per_parameter for one in entries))

    return {
        "from the hub or packages": total([*fetched, *ready_made.values()], FETCHED),
        "trained": total(trained, SAVED),
        "two checkpoints of the largest training": max(
            (total([one], 2 * CHECKPOINT) for one in trained), default=0.0
        ),
    }


def missing_disk(needed_gib: float, results: Path) -> list[str]:
    """Return a line where the results' disk has too little space for a scale's models."""
    there = next(path for path in (results, *results.parents) if path.exists())
    free = gib(shutil.disk_usage(there).free)
    if free >= needed_gib:
        return []
    return [
        f"The models take {needed_gib:,.0f} GiB of disk, and that of {there} has {free:,.0f} free (what is"
        " made already needs no more). Free some, or take a larger disk: `results` for what is made, HF_HOME"
        " for models from the hub"
    ]


def missing_keys(jobs: Sequence[Job], models: Models, environment: Mapping[str, str]) -> list[str]:
    """Return a line for each key that the jobs' models, data or servers need and the environment lacks."""
    names = set()
    catalogs = {
        "base_model": ("base", models.catalog.models),
        "dataset": ("dataset", models.catalog.datasets),
    }
    for job in jobs:
        if job.rule in catalogs:
            wildcard, catalog = catalogs[job.rule]
            name = job.wildcards[wildcard]
            if "gated" in catalog[name].get("terms", ""):
                names.add(name)
    gated = []
    if names and not environment.get("HF_TOKEN"):
        gated = [
            f"HF_TOKEN is not set, and is needed for {', '.join(sorted(names))} (gated): accept their terms"
            " on the hub and set it, or `hf auth login`"
        ]
    return gated + unset_keys(jobs, environment)


def asked_of_servers(jobs: Iterable[Job], estimate: Estimate) -> pd.DataFrame:
    """Return what is asked of each judge on a server: requests, and millions of tokens read and written."""
    rows = []
    for job in jobs:
        for entry in (one for one in job.held if "server" in one):
            requests = estimate.requests(job, "question" in entry)
            labels = entry.get("verdict", "labels") == "labels"
            written = 1 if labels else entry.get("max_new_tokens", NEW_TOKENS)
            read, most = requests * QUESTION / 1e6, requests * written / 1e6
            name, url = entry["server"]["model"], entry["server"]["url"]
            rows.append(
                {"judge": name, "server": url, "requests": requests, "read (M)": read, "written (M)": most}
            )
    columns = ["judge", "server", "requests", "read (M)", "written (M)"]
    return pd.DataFrame(rows, columns=columns).groupby(["judge", "server"], as_index=False).sum()


def _judges(asked: pd.DataFrame) -> str:
    if asked.empty:
        return "None is asked."
    table = as_markdown(asked.astype({"requests": int}), floatfmt=",.2f", intfmt=",")
    return (
        f"{table}\n\nTokens are millions: about {QUESTION} read for each request, and at most as many written"
        " as a reply may have. Replies that are kept from an earlier run are not asked for again."
    )


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
