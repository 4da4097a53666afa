"""Where the time goes on more cores: a finished run's jobs, asleep for as long as they took, by Snakemake's
own schedule."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import common
from jobs import Job, jobs_of, with_costs

from polyreward.core.errors import PolyrewardError

CAPTION = """{target}: {jobs} jobs, {total:.0f} {clock} seconds in all. Each job of the finished run sleeps 1/{divisor:g} of its
seconds, and Snakemake runs the sleepers: same dependencies, threads, priorities, requests and temporary files.{limit}
Seconds: every job as soon as what it needs is done and cores{and_memory} are free, in the order in which Snakemake started them.
As it ran: from the first start of a job to the last end, times {divisor:g}, and so is Snakemake's own work between jobs.
Snakemake's own: what the jobs take without sleep, from the command to its end. Used: the share of the cores' seconds in which
jobs ran. Jobs are as long on many cores as when they were measured: that more of them share the memory is not in it.

Critical path, {path_seconds:.0f} seconds, less than which no number of cores needs: {path}."""
RULE = """
rule job{id}:
    input: {needs}
    output: {outputs}
    threads: {threads}
    priority: {priority}
    resources: {resources}
    shell: "date +%s.%N >> {{FOLDER}}/started/{id}; sleep {sleep:.3f}; touch {{output}}; date +%s.%N > {{FOLDER}}/ended/{id}"
"""


def critical_path(jobs: Sequence[Job], seconds: Mapping[int, float]) -> list[int]:
    """Return the ids of the longest chain of jobs that wait for each other, first to last. jobs: each after
    what it needs."""
    ends: dict[int, float] = {}
    before: dict[int, int | None] = {}
    for job in jobs:
        before[job.id] = max(job.needs, key=ends.__getitem__, default=None)
        ends[job.id] = seconds[job.id] + (ends[before[job.id]] if job.needs else 0.0)
    path = [max(ends, key=ends.__getitem__)] if ends else []
    while path and before[path[-1]] is not None:
        path.append(before[path[-1]])
    return path[::-1]


def replayed(
    jobs: Sequence[Job], order: Sequence[int], seconds: Mapping[int, float], limits: Mapping[str, int]
) -> float:
    """Return how long jobs take that start in an order, none before the one ahead of it, as soon as they can.

    order: ids. limits: {resource: how much there is of it}, threads among them; a job that asks for more gets
    all."""
    by_id = {job.id: job for job in jobs}
    ends: dict[int, float] = {}
    now = 0.0
    for number in order:
        job = by_id[number]
        now = max([now, *(ends[need] for need in job.needs)])
        while not _fits(job, [by_id[other] for other, end in ends.items() if end > now], limits):
            now = min(end for end in ends.values() if end > now)
        ends[number] = now + seconds[number]
    return max(ends.values(), default=0.0)


def _asked(job: Job, name: str, limit: int) -> int:
    return min(limit, job.threads if name == "threads" else job.resources.get(name, 0))


def _fits(job: Job, running: Sequence[Job], limits: Mapping[str, int]) -> bool:
    return all(
        sum(_asked(other, name, limit) for other in [*running, job]) <= limit
        for name, limit in limits.items()
    )


def sleepers(jobs: Sequence[Job], sleeps: Mapping[int, float], folder: Path) -> str:
    """Return a Snakefile with a rule for each job, which sleeps so many seconds; its last rule asks for all
    of them."""
    files = {
        job.id: [f"{folder}/{job.id}" + (f"_{number}" if number else "") for number in range(_count(job))]
        for job in jobs
    }
    shown = {
        job.id: ", ".join(
            f'temp("{path}")' if number < len(job.temporary) else f'"{path}"'
            for number, path in enumerate(paths)
        )
        for job in jobs
        for paths in [files[job.id]]
    }
    needed = {need for job in jobs for need in job.needs}
    rules = [
        RULE.replace("{{FOLDER}}", str(folder)).format(
            id=job.id,
            needs=", ".join(f'"{path}"' for need in job.needs for path in files[need]),
            outputs=shown[job.id],
            threads=job.threads,
            priority=job.priority,
            resources=", ".join(f"{name}={value}" for name, value in job.resources.items()),
            sleep=sleeps[job.id],
        )
        for job in jobs
    ]
    last = ", ".join(f'"{path}"' for job in jobs if job.id not in needed for path in files[job.id])
    return f"rule all:\n    input: {last}\n" + "".join(rules)


def _count(job: Job) -> int:
    return max(1, len(job.temporary))


def run_sleepers(
    jobs: Sequence[Job], sleeps: Mapping[int, float], cores: int, limits: Mapping[str, int]
) -> dict:
    """Let Snakemake run the sleepers on so many cores; returns order (ids, as started), ran_s (first start to
    last end), took_s.

    limits: {resource: how much}, beside cores."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("started", "ended"):
            (folder / part).mkdir()
        (folder / "Snakefile").write_text(sleepers(jobs, sleeps, folder), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            str(cores),
            "--quiet",
            "rules",
            "progress",
            "--directory",
            name,
        ]
        asked = (
            ["--resources", *(f"{resource}={limit}" for resource, limit in limits.items())] if limits else []
        )
        start = time.perf_counter()
        ran = subprocess.run(
            [*command, "--snakefile", f"{name}/Snakefile", *asked],
            text=True,
            capture_output=True,
            check=False,
        )
        took = time.perf_counter() - start
        if ran.returncode:
            raise PolyrewardError(f"Snakemake did not run the sleepers:\n{ran.stdout}{ran.stderr}")
        started, ended = (
            {job.id: float((folder / part / str(job.id)).read_text("ascii").split()[0]) for job in jobs}
            for part in ("started", "ended")
        )
    return {
        "order": sorted(started, key=started.__getitem__),
        "ran_s": max(ended.values()) - min(started.values()),
        "took_s": took,
    }


def schedule_row(
    jobs: Sequence[Job], seconds: Mapping[int, float], cores: int, divisor: float, limits: Mapping[str, int]
) -> dict:
    """Measure one number of cores; returns a row of the table."""
    found = run_sleepers(jobs, {number: one / divisor for number, one in seconds.items()}, cores, limits)
    own = run_sleepers(jobs, dict.fromkeys(seconds, 0.0), cores, limits)
    whole = replayed(jobs, found["order"], seconds, {"threads": cores, **limits})
    used = sum(seconds[job.id] * min(cores, job.threads) for job in jobs)
    path = sum(seconds[number] for number in critical_path(jobs, seconds))
    return {
        "cores": cores,
        "seconds": f"{whole:.0f}",
        "as it ran": f"{found['ran_s'] * divisor:.0f}",
        "Snakemake's own": f"{own['took_s']:.0f}",
        "critical path": f"{path:.0f}",
        "sum / cores": f"{used / cores:.0f}",
        "used (%)": f"{100 * used / cores / whole:.0f}",
    }


def main() -> None:
    """Run the sleepers on every number of cores and print one table."""
    parser = common.target_parser(__doc__)
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 4, 8, 16], help="rows of the table")
    parser.add_argument(
        "--divisor", type=float, default=10.0, help="jobs sleep their seconds divided by this"
    )
    parser.add_argument(
        "--mem-mb", type=int, help="memory to hand out, in MB; without it, as much as is asked for"
    )
    parser.add_argument(
        "--clock",
        choices=["wall", "processor"],
        default="wall",
        help="seconds of a job; processor if other work ran then",
    )
    options = parser.parse_args()
    jobs = jobs_of(options.target, options.configfiles)
    costs = with_costs(jobs, options.results)
    seconds = {job.id: one for job, one in zip(jobs, costs[f"{options.clock}_s"], strict=True)}
    limits = {"mem_mb": options.mem_mb} if options.mem_mb else {}
    rows = []
    for cores in options.cores:
        rows.append(schedule_row(jobs, seconds, cores, options.divisor, limits))
        print(f"{cores} cores: {rows[-1]['seconds']} seconds", file=sys.stderr, flush=True)
    path = critical_path(jobs, seconds)
    names = {job.id: job.name for job in jobs}
    facts = {
        **vars(options),
        "jobs": len(jobs),
        "total": sum(seconds.values()),
        "limit": f" Memory handed out: {options.mem_mb} MB." if limits else "",
        "and_memory": " and memory" if limits else "",
        "path_seconds": sum(seconds[number] for number in path),
        "path": ", ".join(f"{names[number]} ({seconds[number]:.0f})" for number in path),
    }
    common.print_table(CAPTION.format(**facts), rows)


if __name__ == "__main__":
    os.environ.pop("SNAKEMAKE_PROFILE", None)  # another's limits and executor are not what is measured
    common.run(main)
