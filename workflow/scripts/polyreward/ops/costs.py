"""What a run cost: seconds and memory of its rules, by Snakemake's `benchmark:` files and logs."""

import re
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.ops.jobs import ASKED

COST_COLUMNS = ["rule", "jobs", "seconds", "longest_s", "cpu_seconds", "peak_mb", "asked_mb", "jobs_over"]
MB_PER_MIB = 2**20 / 1e6


def jobs_run(folder: str | Path) -> pd.DataFrame:
    """Return each job's rule, job, s, cpu_time, peak_mb and asked_mb, by a folder of benchmark files.

    A job's log says what it asked for; NaN where the log is gone, or older than this line in it.
    """
    files = sorted(Path(folder).glob("*/*.tsv"))
    if not files:
        what = "no benchmark files; make a table first" if Path(folder).parent.is_dir() else "no such folder"
        raise PolyrewardError(f"{folder}: {what}, or name another results folder, such as results/tiny")
    logs, tables = Path(folder).parent / "logs", []
    for path in files:
        log = logs / path.parent.name / f"{path.stem}.log"
        first = ""
        if log.is_file():
            with log.open(encoding="utf-8", errors="replace") as lines:
                first = lines.readline()
        asked = re.match(rf"{ASKED}.*\bmem_mb=(\d+)", first)
        job = {"rule": path.parent.name, "job": path.stem, "asked_mb": float(asked[1] if asked else "nan")}
        tables.append(pd.read_csv(path, sep="\t", na_values="-").assign(**job))
    jobs = pd.concat(tables)
    jobs["peak_mb"] = jobs["max_rss"] * MB_PER_MIB  # NaN for a job of less than a moment
    return jobs[["rule", "job", "s", "cpu_time", "peak_mb", "asked_mb"]]


def job_costs(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return COST_COLUMNS of each rule from jobs_run, the dearest first.

    seconds: wall-clock of all its jobs. cpu_seconds: of all cores. peak_mb: the most that a job took.
    asked_mb: the most that one asked for. jobs_over: how many took more than they asked for.
    """
    rules = jobs.assign(over=jobs["peak_mb"] > jobs["asked_mb"]).groupby("rule")
    table = rules.agg(
        jobs=("s", "size"),
        seconds=("s", "sum"),
        longest_s=("s", "max"),
        cpu_seconds=("cpu_time", "sum"),
        peak_mb=("peak_mb", "max"),
        asked_mb=("asked_mb", "max"),
        jobs_over=("over", "sum"),
    )
    return table.reset_index().sort_values("seconds", ascending=False, kind="stable")[COST_COLUMNS]


def too_little_asked(jobs: pd.DataFrame) -> str:
    """Return in words which jobs of jobs_run took more memory than they asked for; empty where none did."""
    over = jobs[jobs["peak_mb"] > jobs["asked_mb"]].sort_values("peak_mb", ascending=False)
    lines = [
        f"- {row.rule} {row.job}: took {row.peak_mb:,.0f} MB and asked for {row.asked_mb:,.0f}"
        for row in over.itertuples()
    ]
    how = "so that too many may run at a time (`--set-resources RULE:mem_mb=...`):"
    heading = f"Took more memory than they asked for, {how}"
    return "\n".join([heading, *lines]) if lines else ""
