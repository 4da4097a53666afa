"""What a run cost: seconds and memory per rule, by Snakemake's `benchmark:` files, and what its jobs asked
for."""

import re
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.ops.jobs import ASKED

COST_COLUMNS = ["rule", "jobs", "seconds", "longest_s", "cpu_seconds", "peak_mb", "asked_mb", "jobs_over"]
JOB_COLUMNS = ["rule", "job", "s", "cpu_time", "peak_mb", "asked_mb"]
MB_PER_MIB = 2**20 / 1e6


def jobs_run(folder: str | Path) -> pd.DataFrame:
    """Return JOB_COLUMNS of each job: seconds, processor seconds, the largest resident set in MB, and the MB
    it asked for.

    folder: of the benchmark files. What a job asked for stands in its log, beside them; none where that is
    gone, or older than this line in it. Raises PolyrewardError when nothing has run."""
    files = sorted(Path(folder).glob("*/*.tsv"))
    if not files:
        raise PolyrewardError(f"{folder}: no benchmark files; make a table first")
    logs = Path(folder).parent / "logs"
    jobs = pd.concat(
        pd.read_csv(path, sep="\t", na_values="-").assign(
            rule=path.parent.name,
            job=path.stem,
            asked_mb=asked_mb(logs / path.parent.name / f"{path.stem}.log"),
        )
        for path in files
    )
    return jobs.assign(peak_mb=jobs["max_rss"] * MB_PER_MIB)[JOB_COLUMNS]


def asked_mb(log: Path) -> float:
    """Return the MB of memory that a job asked for, by its log, or NaN."""
    if not log.is_file():
        return float("nan")
    with log.open(encoding="utf-8", errors="replace") as lines:
        found = re.match(rf"{ASKED}.*\bmem_mb=(\d+)", lines.readline())
    return float(found[1]) if found else float("nan")


def job_costs(folder: str | Path) -> pd.DataFrame:
    """Sum up the jobs of each rule, the dearest first; folder as in jobs_run.

    seconds: wall-clock of all its jobs together; cpu_seconds: of all cores; peak_mb: the most memory that one
    of them took, and asked_mb: the most that one asked for; jobs_over: how many took more than they asked
    for."""
    jobs = jobs_run(folder)
    # A job of less than a moment has no memory reading.
    table = (
        jobs.assign(over=jobs["peak_mb"] > jobs["asked_mb"])
        .groupby("rule")
        .agg(
            jobs=("s", "size"),
            seconds=("s", "sum"),
            longest_s=("s", "max"),
            cpu_seconds=("cpu_time", "sum"),
            peak_mb=("peak_mb", "max"),
            asked_mb=("asked_mb", "max"),
            jobs_over=("over", "sum"),
        )
    )
    return table.reset_index().sort_values("seconds", ascending=False, kind="stable")[COST_COLUMNS]


def too_little_asked(folder: str | Path) -> str:
    """Return in words which jobs took more memory than they asked for; nothing where none did."""
    jobs = jobs_run(folder)
    over = jobs[jobs["peak_mb"] > jobs["asked_mb"]]
    rows = over.sort_values("peak_mb", ascending=False).itertuples()
    lines = [
        f"- {row.rule} {row.job}: took {row.peak_mb:,.0f} MB and asked for {row.asked_mb:,.0f}"
        for row in rows
    ]
    if not lines:
        return ""
    said = (
        "Took more memory than they asked for, so that too many may run at a time (`--set-resources"
        " RULE:mem_mb=...`):"
    )
    return "\n".join([said, *lines])
