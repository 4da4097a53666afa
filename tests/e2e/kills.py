"""Kill -9 of a run while it makes one job of each rule, run it again until it is done, and compare bytes.

Works on a finished run. What it kills is made again from what is there, wave after wave: no job of a wave
needs another one of it. Afterwards everything is as it was, to the time of each file, so that nothing else
becomes out of date."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recorded import Job
from support import started, variables

LOOK = 0.02  # seconds between two looks at a run
TRIES = 4  # kills that may come too late for a job, each at half the time of the one before
QUICK = 0.3  # seconds of a job that may be over before it can be killed


def one_of_each_rule(jobs: Iterable[Job], seed: int) -> list[Job]:
    """Return a job of each rule, drawn at random by a seed."""
    by_rule: dict[str, list[Job]] = {}
    for job in jobs:
        by_rule.setdefault(job.rule, []).append(job)
    draw = random.Random(seed)
    return [draw.choice(by_rule[rule]) for rule in sorted(by_rule)]


def waves(chosen: Sequence[Job], jobs: Sequence[Job]) -> list[list[Job]]:
    """Return the chosen jobs in groups, each without a job that another one of it needs."""
    makers = {output: job for job in jobs for output in job.outputs}
    chosen_logs, depths = {job.log for job in chosen}, {}

    def depth(job: Job) -> int:
        """How many chosen jobs are on the longest way to this one, itself among them."""
        if job.log not in depths:
            needed = {makers[path].log: makers[path] for path in job.inputs if path in makers}
            depths[job.log] = max(map(depth, needed.values()), default=0) + (job.log in chosen_logs)
        return depths[job.log]

    found: dict[int, list[Job]] = {}
    for job in chosen:
        found.setdefault(depth(job), []).append(job)
    return [found[number] for number in sorted(found)]


class Wave:
    """Jobs that are killed together or one after the other; folder: a checkout; scale: options of
    Snakemake."""

    def __init__(self, folder: Path, jobs: Sequence[Job], scale: Sequence[str], seed: int):
        self.folder, self.jobs = folder, jobs
        self.paths = [path for job in jobs for path in job.outputs]
        self.environment = variables(HF_HUB_OFFLINE="1")
        options = ["--rerun-incomplete", *scale]  # jobs end with the Snakemake that is killed
        self.command = [*started("jobs", self.environment), *options, *self.paths]
        draw = random.Random(seed)
        # Seconds from the start of its log
        self.after = {job.log: draw.uniform(0.1, 0.7) * job.seconds for job in jobs}
        self.kills = self.late = 0
        self.quick: list[str] = []  # rules whose job was over each time

    def problems(self) -> list[str]:
        """Kill, run again, compare and put everything back; returns in words what went wrong."""
        kept = self.folder / ".kept"
        for path in self.paths:
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).rename(kept / path)
        try:
            return [*self._run(), *self._differences(kept), *self._halves()]
        finally:
            for path in self.paths:
                _remove(self.folder / path)
                (kept / path).rename(self.folder / path)
            shutil.rmtree(kept)

    def _run(self) -> list[str]:
        """Start the run and kill it, until it has been killed in each job, and let the last start end."""
        left = {job.log: job for job in self.jobs}
        for _ in range(TRIES * len(self.jobs) + 1):
            for log, job in left.items():
                (self.folder / log).unlink(missing_ok=True)
                for path in job.outputs:
                    _remove(self.folder / path)
            code, said, killed = self._start(left)
            for job in killed:
                if self._made(job):
                    self.late += 1
                    self.after[job.log] /= 2
                else:
                    del left[job.log]
            if not killed and code:
                return [f"the run after {self.kills} kills ended with {code}:\n{said[-3000:]}"]
            if not killed and left:  # done sooner than it was looked for
                self.late += len(left)
                self.after = {log: seconds / 2 for log, seconds in self.after.items()}
            elif not killed:
                return []
        self.quick = [job.rule for job in left.values() if job.seconds < QUICK]
        slow = [job.rule for job in left.values() if job.seconds >= QUICK]
        return [f"{rule}: could not be killed midway" for rule in slow]

    def _start(self, left: dict[str, Job]) -> tuple[int, str, list[Job]]:
        """Start the run; returns its exit status, what it said and the jobs for which it was killed."""
        with open(self.folder / "run.log", "w+", encoding="utf-8") as stream:
            how = {"stdout": stream, "stderr": subprocess.STDOUT, "start_new_session": True}
            process = subprocess.Popen(self.command, cwd=self.folder, env=self.environment, **how)
            since, killed = {}, []
            while process.poll() is None and not killed:
                time.sleep(LOOK)
                for log in left:
                    if log not in since and (self.folder / log).exists():
                        since[log] = time.monotonic()
                running = [log for log in since if not self._made(left[log])]
                due = [log for log in running if time.monotonic() - since[log] >= self.after[log]]
                if due and len(due) == len(running):  # jobs that run at the same time die at the same time
                    os.killpg(process.pid, signal.SIGKILL)
                    self.kills += 1
                    killed = [left[log] for log in due]
            process.wait()
            stream.seek(0)
            return process.returncode, stream.read(), killed

    def _made(self, job: Job) -> bool:
        return all((self.folder / path).exists() for path in job.outputs)

    def _differences(self, kept: Path) -> Iterator[str]:
        for path in self.paths:
            whole, again = content(kept / path), content(self.folder / path)
            names = sorted(name for name in whole.keys() | again.keys() if whole.get(name) != again.get(name))
            if names:
                yield f"{path}: after a kill it is another in {', '.join(names)}"

    def _halves(self) -> list[str]:
        """Return what killed jobs left next to their outputs."""
        names = {Path(path).name for path in self.paths}
        hidden = [one for path in self.paths for one in (self.folder / path).parent.glob(".*")]
        found = {path for path in hidden if path.name[1:].rsplit(".", 1)[0] in names}
        return [f"{path}: left over" for path in sorted(found)]


def content(path: Path) -> dict[str, bytes]:
    """Return {file: bytes} of a folder without Snakemake's mark, or of a file by the name "the file"."""
    if not path.is_dir():
        return {"the file": path.read_bytes()} if path.exists() else {}
    files = (file for file in path.rglob("*") if file.is_file() and file.name != ".snakemake_timestamp")
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
