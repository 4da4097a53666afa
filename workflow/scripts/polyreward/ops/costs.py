"""What a run cost: seconds and memory of its rules, by Snakemake's `benchmark:` files and logs."""

import re
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import ASKED

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

    seconds: of all its jobs. peak_mb, asked_mb: the largest. jobs_over: those that took more than asked for.
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
