"""What a run would take: its jobs with their times and memory, what does not fit, missing keys, and disk."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import as_markdown
from polyreward.ops.machine import gpu_name
from polyreward.ops.progress import duration, known_seconds, reference_seconds
from polyreward.ops.resources import Job, gib, parameters_b, too_large, unset_keys
from polyreward.ops.scales import nearest_artifact
from polyreward.ops.trials import FILE, Speeds, read_speeds
from polyreward.ops.work import QUESTION, Counts
from polyreward.ops.workflow import described, dry_run_jobs
from polyreward.scoring.generative import NEW_TOKENS
from polyreward.sheet.entries import Models, read_models

TRAINED = ("train", "supervise", "grpo")
# Bytes of a parameter on disk; a checkpoint has weights and AdamW's moments in float32
FETCHED, SAVED, CHECKPOINT = 2, 4, 16
SOURCES = """\
- **Hours** are measured: by jobs of the rule in {times}, else in the scale's
  reference run (docs/data/), else by `polyreward gpu-check`. `by` says which. They are empty where nothing
  measured them. Those of gpu-check leave out starts, loading and saving.
- **Tokens** are counted before anything ran, by sizes that sets state and by guessed lengths
  (polyreward/ops/work.py). A step of writing adds one token to every text of a batch. They are empty where
  nothing can be counted before the run, and gpu-check's speeds then give no hours.
- **Memory** is what the largest job asks this machine for."""
LIMIT, CARD = "limit of a job (hours)", "GiB of a GPU"
OF_CARDS = f"""\
- **{LIMIT}** is the time after which a cluster ends a job (`minutes` in workflow/rules/), for the papers'
  own models on GPUs of 80 GB.
- **{CARD}** are what the largest job certainly takes of each GPU: weights, gradients and the optimizer's
  state. Activations come on top, and gpu-check measures them."""
MEASURED_HERE, REFERENCE, CHECKED = "this run", "reference run", "gpu-check"


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> list[Job]:
    """Return the jobs of a run from nothing; raise Snakemake's own words where it does not resolve."""
    with contextlib.chdir(root):
        try:
            return [described(job) for job in dry_run_jobs(targets, configfiles)]
        except PolyrewardError as error:
            raise PolyrewardError(nearest_artifact(str(error), root)) from None


def plan_text(
    targets: Sequence[str],
    configfiles: Sequence[str],
    root: Path,
    throughputs: Path | None = None,
    below: Path | None = None,
) -> str:
    """Return the whole plan in Markdown.

    throughputs: what gpu-check wrote, by default in the results. below: where the results are, by default
    below the project's root."""
    models, jobs = read_models(configfiles, root), planned_jobs(targets, configfiles, root)
    results, room = (below or root) / models.settings.results, models.settings.devices.gpu_gib
    counts, disk = Counts(models, root), disk_gib(jobs, models)
    speeds, words = read_speeds(throughputs or results / FILE, models, gpu_name())
    hours = Hours(known_seconds(results / "benchmarks"), reference_seconds(results), speeds, counts)
    table = by_rule(jobs, hours)
    on_cards = "gpu_gib" in models.settings.devices.model_fields_set or any(
        job.model and job.model.gpu for job in jobs
    )
    hidden = ["computes", *([] if on_cards else [LIMIT, CARD])]
    sources = SOURCES.format(times=Path(models.settings.results, "benchmarks"))
    problems = [*too_large(jobs, room), *too_long(jobs, hours), *missing_disk(sum(disk.values()), results)]
    parts = [
        f"# Scale {models.settings.results}: {len(jobs)} jobs",
        time_text(table, words),
        f"{sources}\n{OF_CARDS}" if on_cards else sources,
        "## What does not fit",
        _listed(problems) or "Nothing that is certain before it runs.",
        "## Keys",
        _listed(missing_keys(jobs, models, os.environ)) or "None is missing.",
        "## Judges on servers",
        _judges(asked_of_servers(jobs, counts)),
        "## Jobs",
        as_markdown(
            table.drop(columns=hidden).round(1).astype(object).fillna(""), floatfmt=",.1f", intfmt=","
        ),
        "## Disk of models (GiB)",
        _listed(f"{what}: {size:,.1f}" for what, size in disk.items()),
    ]
    return "\n\n".join(parts)


@dataclass(frozen=True)
class Hours:
    """Times that were measured. ran: seconds of this run's jobs, by rule. reference: mean seconds of a job of
    the reference run. speeds: of gpu-check, None without."""

    ran: Mapping[str, Sequence[float]]
    reference: Mapping[str, float]
    speeds: Speeds | None
    counts: Counts

    def seconds(self, job: Job) -> tuple[float, str]:
        """Return a job's seconds, NaN where nothing measured them, and what did."""
        if self.ran.get(job.rule):
            return fmean(self.ran[job.rule]), MEASURED_HERE
        if job.rule in self.reference:
            return self.reference[job.rule], REFERENCE
        found = None
        if self.speeds and job.on_card:
            found = self.speeds.seconds(job, self.counts.work(job), self.counts.models)
        return (nan, "") if found is None else (found, CHECKED)


def time_text(table: pd.DataFrame, words: str) -> str:
    """Return how long the jobs take, by what was measured. table: of by_rule. words: of gpu-check's file."""
    ran, checked = table[table["by"].isin((MEASURED_HERE, REFERENCE))], table[table["by"] == CHECKED]
    unknown = table[(table["by"] == "") & table["computes"]]
    lines = []
    if len(ran):
        took = duration(3600 * ran["hours"].sum())
        lines.append(
            f"Jobs whose rules ran: {ran['jobs'].sum()}. They take about {took} one after another, and"
            " half of that on two cores if the longest chain of jobs allows."
        )
    if len(checked):
        took = duration(3600 * checked["hours"].sum())
        lines.append(
            f"Jobs that gpu-check tried: {checked['jobs'].sum()}. Their models compute for about {took}, by"
            f" {words}."
        )
    if len(unknown):
        why = "" if len(checked) else f" {words}"
        lines.append(
            f"Jobs with models that nothing measured, so without hours: {unknown['jobs'].sum()}.{why}"
        )
    return " ".join(lines) or "No job computes with a model, and none of these rules ran."


def by_rule(jobs: Sequence[Job], hours: Hours) -> pd.DataFrame:
    """Return what the jobs of each rule take, the longest first; no hours and no tokens where some job has
    none."""
    rows = []
    for job in jobs:
        (seconds, by), work = hours.seconds(job), hours.counts.work(job)
        million, thousand = (1e6, 1e3) if work.counted or not job.on_card else (nan, nan)
        rows.append(
            {
                "rule": job.rule,
                "jobs": 1,
                "hours": seconds / 3600,
                "by": by,
                LIMIT: job.model.minutes / 60 if job.model else 0.0,
                "read (M tokens)": work.reads / million,
                "learned (M tokens)": work.learns / million,
                "steps of writing (k)": work.steps / thousand,
                CARD: max((gib(job.model.card_bytes(one)) for one in job.on_card), default=0.0),
                "memory (GB)": job.model(job.wildcards) / 1e3 if job.model else 0.0,
                "computes": bool(job.on_card),
            }
        )
    sums = [name for name in rows[0] if name in ("jobs", "hours") or name.endswith((" tokens)", "(k)"))]
    columns: dict = dict.fromkeys(list(rows[0])[1:], "max")
    columns |= dict.fromkeys(sums, lambda found: found.sum(skipna=False))
    columns["by"] = lambda found: min(found)  # no source where some job has none
    table = pd.DataFrame(rows).groupby("rule").agg(columns)
    order = ["hours", "learned (M tokens)", "read (M tokens)", CARD]
    return table.sort_values(order, ascending=False, kind="stable").reset_index()


def too_long(jobs: Sequence[Job], hours: Hours) -> list[str]:
    """Return a line for each rule with a job that by measured times would not end within its limit."""
    longest: dict[str, tuple[float, float]] = {}
    for job in jobs:
        seconds, _ = hours.seconds(job)
        if job.model and seconds == seconds:  # not NaN
            found = seconds / 3600, job.model.minutes / 60
            longest[job.rule] = max(found, longest.get(job.rule, found))
    return [
        f"{rule}: a job takes about {took:.0f} hours, and a cluster ends it after {limit:.0f}; raise"
        " `minutes` in its rule, or take a faster GPU"
        for rule, (took, limit) in longest.items()
        if took > limit
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


def asked_of_servers(jobs: Iterable[Job], counts: Counts) -> pd.DataFrame:
    """Return what is asked of each judge on a server: requests, and millions of tokens read and written."""
    rows = []
    for job in jobs:
        for entry in (one for one in job.held if "server" in one):
            requests = counts.requests(job, "question" in entry)
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
