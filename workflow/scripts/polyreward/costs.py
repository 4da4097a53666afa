"""What a run cost: seconds and memory per rule, from the files that Snakemake's `benchmark:` writes."""

from pathlib import Path

import pandas as pd

from polyreward.errors import PolyrewardError

COST_COLUMNS = ["rule", "jobs", "seconds", "longest_s", "cpu_seconds", "peak_mib"]


def job_costs(folder: str | Path) -> pd.DataFrame:
    """Sum up the benchmark files of each rule, the dearest first.

    seconds: wall-clock of all its jobs together; cpu_seconds: of all cores; peak_mib: the largest resident set of one job.
    Raises PolyrewardError when there is none."""
    files = sorted(Path(folder).glob("*/*.tsv"))
    if not files:
        raise PolyrewardError(f"{folder}: no benchmark files; make a table first")
    jobs = pd.concat([pd.read_csv(path, sep="\t", na_values="-").assign(rule=path.parent.name) for path in files])
    # A job of less than a moment has no memory reading.
    table = jobs.groupby("rule").agg(
        jobs=("s", "size"),
        seconds=("s", "sum"),
        longest_s=("s", "max"),
        cpu_seconds=("cpu_time", "sum"),
        peak_mib=("max_rss", "max"),
    )
    return table.reset_index().sort_values("seconds", ascending=False, kind="stable")
