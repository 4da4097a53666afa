"""What a run says of itself: what it does, how far it is, how long it still takes; and of a job that failed,
what matters.

The time left is an estimate: for each job that is left, the mean time of its rule, in this run or, where none
is done yet, in earlier ones (Snakemake's `benchmark:` files); over as many jobs at a time as this run has had
so far."""

import csv
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from polyreward.ops.hardware import RAN_ON
from polyreward.ops.jobs import ASKED

LINES = 3  # of a failed job's log, where an error is not ours
PROBLEMS = 12  # lines of an error of ours, which lists all that is wrong
SILENT = "its log says nothing of why; was it killed, perhaps for want of memory?"
WIDTH = 300  # characters of such a line
PLANNED = 8  # rules that the plan names
NAMED = 3  # running jobs, and rules without a known time, that a line names
WITHOUT_WORK = ("all", "carb", "think_as_locals", "transfer")  # rules that only name what others make

Seconds = dict[str, list[float]]  # of jobs, by rule


def known_seconds(folder: str | Path) -> Seconds:
    """Return what jobs of earlier runs took; folder: of the benchmark files, `<rule>/<job>.tsv`. A damaged
    file is left out."""
    found: Seconds = defaultdict(list)
    for path in sorted(Path(folder).glob("*/*.tsv")):
        try:
            with path.open(encoding="utf-8", newline="") as lines:
                found[path.parent.name] += [float(row["s"]) for row in csv.DictReader(lines, delimiter="\t")]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return {rule: seconds for rule, seconds in found.items() if seconds}


@dataclass
class Job:
    """A job that runs. name: of its rule and wildcards; start: by the run's clock."""

    rule: str
    name: str
    start: float
    logs: list[str] = field(default_factory=list)


class Run:
    """How far a run is.

    stats: {rule: jobs}, as Snakemake counts them before the first one. earlier: what jobs of each rule took
    before. clock: seconds from anywhere."""

    def __init__(
        self,
        stats: Mapping[str, int],
        earlier: Seconds | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.left = {rule: count for rule, count in stats.items() if rule != "total"}
        self.total, self.done, self.clock, self.begun = sum(self.left.values()), 0, clock, clock()
        self.running: dict[int, Job] = {}
        self.failed: dict[int, Job] = {}
        self.earlier, self.now = earlier or {}, defaultdict(list)
        self.busy = 0.0  # seconds of all jobs that have ended

    def start(
        self, number: int, rule: str, wildcards: Mapping[str, str] | None = None, logs: Iterable[str] = ()
    ) -> None:
        """Note that a job starts; number: Snakemake's of it."""
        name = " ".join([rule, *(str(value) for value in (wildcards or {}).values())])
        if self.failed.pop(number, None):  # it is tried again
            self.left[rule] += 1
        self.running[number] = Job(rule, name, self.clock(), [str(log) for log in logs])

    def finish(self, number: int) -> None:
        """Note that a job is done."""
        if job := self.running.pop(number, None):
            seconds = self.clock() - job.start
            self.now[job.rule].append(seconds)
            self._end(job.rule, seconds)
            self.done += 1

    def fail(self, number: int, rule: str = "", logs: Iterable[str] = ()) -> Job:
        """Note that a job failed, and return it."""
        job = self.running.pop(number, None) or Job(rule, rule, self.clock())
        job.logs = [str(log) for log in logs] or job.logs  # a cluster adds its own
        self._end(job.rule, self.clock() - job.start)
        self.failed[number] = job
        return job

    def _end(self, rule: str, seconds: float) -> None:
        self.busy += seconds
        self.left[rule] = max(self.left.get(rule, 0) - 1, 0)

    def mean_seconds(self, rule: str) -> float | None:
        """Return what a job of a rule takes, or None where none was ever run."""
        if self.now.get(rule):
            return fmean(self.now[rule])
        return fmean(self.earlier[rule]) if rule in self.earlier else None

    def at_a_time(self) -> float:
        """Return how many jobs have run at a time so far, 1 at the least."""
        elapsed = self.clock() - self.begun
        return (
            max((self.busy + sum(self.clock() - job.start for job in self.running.values())) / elapsed, 1.0)
            if elapsed
            else 1.0
        )

    def seconds_left(self) -> tuple[float, list[str]]:
        """Return how long the run still takes, as far as it is known, and the rules left whose time is
        not."""
        work, unknown = 0.0, []
        for rule, count in self.left.items():
            mean = self.mean_seconds(rule)
            if mean is None:
                unknown += [rule] if count and rule not in WITHOUT_WORK else []
            else:
                behind = sum(
                    min(self.clock() - job.start, mean) for job in self.running.values() if job.rule == rule
                )
                work += max(count * mean - behind, 0)
        return work / self.at_a_time(), unknown

    def percent(self) -> int:
        """Return the share of the jobs that are done, rounded down."""
        return 100 * self.done // self.total if self.total else 100

    def line(self) -> str:
        """Say in one line how far the run is."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return (
            f"{self.done} of {self.total} jobs ({self.percent()}%){failed},"
            f" {duration(self.clock() - self.begun)} so far; {self._left()}{self._now()}"
        )

    def plan(self) -> str:
        """Say before the first job what is to be done."""
        rules = sorted(self.left.items(), key=lambda item: -item[1])
        named = [f"{count} {rule}" for rule, count in rules if rule not in WITHOUT_WORK]
        return f"{self.total} jobs: {_some(named, PLANNED)}\n{self._left()}"

    def end(self) -> str:
        """Say how the run ended; the logs of what failed stand with each failure."""
        took = duration(self.clock() - self.begun)
        if self.failed:
            names = ", ".join(job.name for job in self.failed.values())
            counts = f"{self.done} of {self.total} jobs done, {len(self.failed)} failed ({names})"
            return f"stopped after {took}: {counts}. What is done is kept."
        if self.done < self.total:
            return (
                f"stopped after {took}: {self.done} of {self.total} jobs done. The same command goes on from"
                " here."
            )
        return f"all {self.total} jobs done in {took}"

    def _left(self) -> str:
        seconds, unknown = self.seconds_left()
        if not unknown:
            return f"about {duration(seconds)} left"
        names = _some(unknown)
        return (
            f"at least {duration(seconds)} left, and {names}, never run here"
            if seconds
            else f"time left not known: {names} never ran here"
        )

    def _now(self) -> str:
        jobs = sorted(self.running.values(), key=lambda job: job.start)
        return f"; now {_some([job.name for job in jobs])}" if jobs else ""


def _some(names: list[str], count: int = NAMED) -> str:
    more = len(names) - count
    return ", ".join(names[:count]) + (f" and {more} more" if more > 0 else "")


def duration(seconds: float) -> str:
    """Say how long something takes, in two units at most: 8 s, 4 min, 1 h 20 min, 2 d 3 h."""
    minutes = round(seconds / 60)
    if seconds < 59.5:
        return f"{round(seconds)} s"
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, hours = divmod(round(minutes / 60), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def what_matters(text: str) -> list[str]:
    """Return the lines of a failed job's log that say why: an error of ours as it is worded, another's place
    and message."""
    lines = [
        line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith((ASKED, RAN_ON))
    ]
    ours = [number for number, line in enumerate(lines) if line.startswith("polyreward: ")]
    if ours:
        found = lines[ours[-1] :]
        more = len(found) - PROBLEMS
        kept = found if more <= 0 else [*found[: PROBLEMS - 1], f"... ({more + 1} more lines)"]
        return [line[:WIDTH] for line in kept]
    traces = [number for number, line in enumerate(lines) if line.startswith("Traceback ")]
    if not traces:
        return [line[:WIDTH] for line in lines[-LINES:]]
    trace = lines[traces[-1] + 1 :]
    message = next((number for number, line in enumerate(trace) if not line.startswith(" ")), len(trace))
    frames = [number for number, line in enumerate(trace[:message]) if re.match(r'\s+File "', line)]
    frame = trace[frames[-1] : message][:2] if frames else []  # the place, and the code that stands there
    return [line.strip()[:WIDTH] for line in [*frame, *trace[message:]][:LINES]]


def failure(job: Job, after: float, said: str | None = None) -> str:
    """Say which job failed, why by its log, and where that is.

    after: seconds. said: what the executor says of it, such as a cluster that it ran out of memory."""
    logs = [Path(log) for log in job.logs]
    text = "".join(log.read_text(encoding="utf-8", errors="replace") for log in logs if log.is_file())
    why = what_matters(text) or [SILENT if logs else "it has no log"]
    lines = [*(said or "").split("\n"), *why, *(f"log: {log}" for log in logs)]
    return "\n  ".join([f"failed: {job.name}, after {duration(after)}", *filter(None, lines)])
