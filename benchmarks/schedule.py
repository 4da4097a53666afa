"""Replay a finished run's jobs on more cores, each as long as it took."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import common
import pandas as pd

from polyreward.core.errors import PolyrewardError

CAPTION = """{target}: {jobs} jobs, {total:.0f} {clock} seconds in all. A job starts as soon as its inputs are
there and cores{memory} are free. Of the jobs that could start, the one with the longest way to the target
starts first. Used: the share of the cores' seconds in which jobs ran. Jobs are as long as measured: that
more of them share the memory's bandwidth is not in it.

Critical path, {path_s:.0f} seconds, the least on any number of cores: {path}."""
LISTS = ("input", "output")


def planned(target: str, configfiles: Sequence[str]) -> list[dict]:
    """Return the jobs that make a target from nothing, as `snakemake -n` prints them, in order of need.

    Each has rule, output, benchmark, threads, mem_mb, and needs: places in this list.
    """
    command = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--cores", "1024", "--nocolor", target]
    command += ["--configfile", *configfiles] if configfiles else []
    done = subprocess.run(command, cwd=common.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise PolyrewardError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return parsed(done.stdout + done.stderr)


def parsed(text: str) -> list[dict]:
    """Read the jobs from what `snakemake -n` prints."""
    jobs, made_by = [], {}
    blocks = re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", text, re.MULTILINE)
    for rule, block in blocks:
        facts = dict(re.findall(r"^    (\w+): (.*)$", block, re.MULTILINE))
        if rule == "all" or "benchmark" not in facts:
            continue
        inputs, outputs = (facts.get(key, "").split(", ") for key in LISTS)
        memory = re.search(r"\bmem_mb=(\d+)", facts.get("resources", ""))
        needs = sorted({made_by[path] for path in inputs if path in made_by})
        made_by |= dict.fromkeys(outputs, len(jobs))
        threads = int(facts.get("threads", 1))
        jobs.append({"rule": rule, "benchmark": facts["benchmark"], "threads": threads, "needs": needs})
        jobs[-1]["mem_mb"] = int(memory[1]) if memory else 0
    return jobs


def with_seconds(jobs: list[dict], results: Path, clock: str) -> list[dict]:
    """Return the jobs with `seconds` and `name`, from the benchmark files of a results folder."""
    found, missing = [], []
    for job in jobs:
        *_, rule, key = Path(job["benchmark"]).parts
        path = results / "benchmarks" / rule / key
        if not path.exists():
            missing.append(str(path))
            continue
        row = pd.read_csv(path, sep="\t", na_values=["-", "NA"]).fillna(0.0).iloc[-1]
        took = row["cpu_time"] if clock == "processor" else row["s"]
        name = f"{job['rule']} {Path(key).stem}"
        found.append({**job, "name": name, "seconds": float(took or row["s"])})  # a short job has no cpu_time
    if missing:
        raise PolyrewardError(f"no such files: {', '.join(missing)}. Make the target there first.")
    return found


def ways(jobs: list[dict]) -> list[float]:
    """Return each job's seconds with those of the longest chain of jobs that wait for it."""
    found = [job["seconds"] for job in jobs]
    for place in reversed(range(len(jobs))):
        for need in jobs[place]["needs"]:
            found[need] = max(found[need], jobs[need]["seconds"] + found[place])
    return found


def critical_path(jobs: list[dict]) -> list[int]:
    """Return the places of the longest chain of jobs that wait for each other, first to last."""
    way, path = ways(jobs), []
    following = [place for place, job in enumerate(jobs) if not job["needs"]]
    while following:
        path.append(max(following, key=way.__getitem__))
        following = [place for place, job in enumerate(jobs) if path[-1] in job["needs"]]
    return path


def replayed(jobs: list[dict], cores: int, mem_mb: float = float("inf")) -> float:
    """Return the seconds of all jobs on some cores; a job that asks for more than there is gets all."""
    limits, way = {"threads": cores, "mem_mb": mem_mb}, ways(jobs)
    waiting, ends, now = set(range(len(jobs))), {}, 0.0
    while waiting:
        running = [place for place, end in ends.items() if end > now]
        free = {
            name: limit - sum(min(limit, jobs[place][name]) for place in running)
            for name, limit in limits.items()
        }
        ready = [
            place
            for place in waiting
            if all(ends.get(need, now + 1) <= now for need in jobs[place]["needs"])
            and all(min(limit, jobs[place][name]) <= free[name] for name, limit in limits.items())
        ]
        if ready:
            first = max(ready, key=lambda place: (way[place], -place))
            ends[first] = now + jobs[first]["seconds"]
            waiting.remove(first)
        else:
            now = min(ends[place] for place in running)
    return max(ends.values(), default=0.0)


def main() -> None:
    """Print one table."""
    parser = common.parser(__doc__, results=True)
    parser.add_argument("--target", default="results/table1.csv", help="a file that was made")
    parser.add_argument("--configfiles", nargs="*", default=[], help="of the run: workflow/scales/tiny.yaml")
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 4, 8, 16], help="rows of the table")
    parser.add_argument("--mem-mb", type=int, help="memory for all jobs together, MB; no limit without it")
    clocks = ["wall", "processor"]
    parser.add_argument("--clock", choices=clocks, default="wall", help="processor, if other work ran then")
    options = parser.parse_args()
    jobs = with_seconds(planned(options.target, options.configfiles), options.results, options.clock)
    path = [jobs[place] for place in critical_path(jobs)]
    rows = []
    for cores in options.cores:
        took = replayed(jobs, cores, options.mem_mb or float("inf"))
        used = sum(job["seconds"] * min(cores, job["threads"]) for job in jobs) / cores / took
        rows.append({"cores": cores, "seconds": f"{took:.0f}", "used (%)": f"{100 * used:.0f}"})
    facts = {
        **vars(options),
        "jobs": len(jobs),
        "total": sum(job["seconds"] for job in jobs),
        "memory": f" and {options.mem_mb:,} MB of memory" if options.mem_mb else "",
        "path_s": sum(job["seconds"] for job in path),
        "path": ", ".join(f"{job['name']} ({job['seconds']:.0f})" for job in path),
    }
    common.print_table(CAPTION.format(**facts), rows)


if __name__ == "__main__":
    common.run(main)
