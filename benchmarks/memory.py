"""Peak memory of a command and all processes that it starts, beside what its jobs asked for.

    python benchmarks/memory.py --results results -- .venv/bin/snakemake --cores 8 results/table1.csv
    --resources mem_mb=12000

samples /proc each 0.2 s (Linux only). PSS counts a page that several processes share once in all, RSS in
each; the sum of PSS is what the machine holds. Samples may miss a peak that is shorter."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path


def parents() -> dict[int, int]:
    """Return {process: its parent} of all processes."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended
            continue
        found[int(path.parent.name)] = int(text.rpartition(")")[2].split()[1])
    return found


def tree(root: int, parent_of: dict[int, int]) -> list[int]:
    """Return a process and all below it."""
    children = {}
    for process, parent in parent_of.items():
        children.setdefault(parent, []).append(process)
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def held_mb(process: int) -> tuple[float, float]:
    """Return a process's PSS and RSS in MB; zeros where it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0, 0.0
    kib = {
        name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines[1:]) if rest
    }
    return kib.get("Pss", 0) * 1024 / 1e6, kib.get("Rss", 0) * 1024 / 1e6


def jobs_among(processes: Iterable[int]) -> int:
    """Return how many of the processes are scripts of Snakemake's jobs."""
    count = 0
    for process in processes:
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        count += any(b"/.snakemake/scripts/" in word for word in words[1:2] + words[2:3])
    return count


def main() -> None:
    """Run the command, print a line for each new peak's end, and what was asked; end as the command does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--interval", type=float, default=0.2, help="seconds between samples; default: %(default)s"
    )
    parser.add_argument(
        "--results", type=Path, help="a scale's results folder: print what its jobs asked for, too"
    )
    parser.add_argument("command", nargs="+", help="the command, after --")
    options = parser.parse_args()

    start, samples = time.monotonic(), 0
    peak = {"PSS": (0.0, 0.0, 0), "RSS": (0.0, 0.0, 0)}  # MB, seconds after the start, jobs at that time
    most_jobs = 0
    process = subprocess.Popen(options.command)
    while process.poll() is None:
        processes = tree(process.pid, parents())
        held, jobs = [held_mb(one) for one in processes], jobs_among(processes)
        most_jobs, samples = max(most_jobs, jobs), samples + 1
        for name, total in zip(peak, (sum(pss for pss, _ in held), sum(rss for _, rss in held)), strict=True):
            peak[name] = max(peak[name], (total, time.monotonic() - start, jobs))
        time.sleep(options.interval)
    elapsed = time.monotonic() - start
    print(
        f"\n{samples} samples in {elapsed:,.0f} s on {os.cpu_count()} cores; at most {most_jobs} jobs at a"
        " time"
    )
    for name, (total, when, jobs) in peak.items():
        print(
            f"peak of {name}, all processes together: {total:,.0f} MB, after {when:,.0f} s, with {jobs} jobs"
        )
    if options.results:
        from polyreward.ops.costs import job_costs, too_little_asked

        print(job_costs(options.results / "benchmarks")[["rule", "jobs", "peak_mb", "asked_mb", "jobs_over"]].to_markdown(
            index=False, floatfmt=".0f"
        ))  # fmt: skip
        print(too_little_asked(options.results / "benchmarks"))
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
