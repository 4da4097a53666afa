"""How far a run is, how long it still takes, and why a job failed.

Each job that is left takes its rule's mean time. That is its time in this run, in earlier ones (Snakemake's
`benchmark:` files), or in this scale's reference run (docs/data/), scaled by this machine's speed so far. As
many jobs run at a time as so far; before the first has ended, one on each core.
"""

import csv
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from polyreward.core.logs import ASKED, RAN_ON, WARNED
from polyreward.core.project import ROOT
from polyreward.ops.scales import scale_of

LINES, PROBLEMS, WIDTH = 3, 11, 300  # shown of a failed job's log; of an error of ours; characters of a line
SILENT = "its log gives no reason; was it killed, perhaps because memory ran out?"
PLANNED, NAMED = 8, 3  # rules that the plan names; jobs or rules that a line names
PRIOR_S = 60  # seconds of jobs that are assumed to take as long as in the reference run
RETRY = re.compile(r"Retrying request.* in ([\d.]+) seconds(.*)")  # a client's words in a job's log
PAUSE_S = 5  # between two lines on a job's retries
REFERENCE = ROOT / "docs/data"
WITHOUT_WORK = ("all", "carb", "think_as_locals", "transfer")  # rules that only name what others make

Seconds = dict[str, list[float]]  # of jobs, by rule


def known_seconds(folder: str | Path) -> Seconds:
    """Return how long earlier jobs took, by a folder's files `<rule>/<job>.tsv`, except damaged ones."""
    found: Seconds = defaultdict(list)
    for path in sorted(Path(folder).glob("*/*.tsv")):
        with suppress(OSError, ValueError, KeyError, TypeError), path.open(newline="") as lines:
            found[path.parent.name] += [float(row["s"]) for row in csv.DictReader(lines, delimiter="\t")]
    return {rule: seconds for rule, seconds in found.items() if seconds}


def reference_seconds(results: Path) -> dict[str, float]:
    """Return each rule's mean seconds in the reference run of a results folder's scale, if it has one."""
    scale = scale_of(results, ROOT)
    path = REFERENCE / str(scale) / "costs.csv"
    if scale is None or not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["rule"]: float(row["seconds"]) / int(row["jobs"]) for row in csv.DictReader(lines)}


@dataclass
class Job:
    """A job that runs. name: its rule and wildcards. start: by the run's clock."""

    rule: str
    name: str
    start: float
    logs: list[str]


class Run:
    """How far a run is.

    stats: {rule: jobs}, as Snakemake counts them before the first one. earlier: how long jobs of each rule
    took before. clock: returns seconds from any start. cores: how many jobs may run at a time.
    """

    def __init__(
        self,
        stats: Mapping[str, int],
        earlier: Seconds | None = None,
        clock: Callable[[], float] = time.monotonic,
        cores: int = 1,
    ):
        self.left = {rule: count for rule, count in stats.items() if rule != "total"}
        self.total, self.done, self.clock, self.begun = sum(self.left.values()), 0, clock, clock()
        self.running: dict[int, Job] = {}
        self.failed: dict[int, Job] = {}
        self.earlier, self.now, self.cores = earlier or {}, defaultdict(list), cores
        self.reference: dict[str, float] = {}  # mean seconds of each rule's jobs in the reference run
        self.interrupted = False  # by the user
        self.busy = 0.0  # seconds of all jobs that have ended
        self.warned: set[str] = set()  # many jobs load the same model, and warn of the same

    def start(
        self, number: int, rule: str, wildcards: Mapping[str, str] | None = None, logs: Iterable[str] = ()
    ) -> None:
        """Note that a job starts, by Snakemake's number."""
        found = (str(value).lstrip("_") for value in (wildcards or {}).values())  # a first seed's is empty
        name = " ".join(filter(None, [rule, *found]))
        if self.failed.pop(number, None):  # it is tried again
            self.left[rule] += 1
        self.running[number] = Job(rule, name, self.clock(), [str(log) for log in logs])

    def finish(self, number: int) -> list[str]:
        """Note that a job is done; return what its log warns of, a line each, if no other job has said it."""
        if not (job := self.running.pop(number, None)):
            return []
        self.now[job.rule].append(self.clock() - job.start)
        self._end(job)
        self.done += 1
        lines = dict.fromkeys(line for line in _log_text(job).splitlines() if line.startswith(WARNED))
        lines = [line for line in lines if line not in self.warned]
        self.warned.update(lines)
        return [f"{WARNED}{job.rule}: {line.removeprefix(WARNED)}" for line in lines]

    def fail(self, number: int, rule: str = "", logs: Iterable[str] = ()) -> Job:
        """Note that a job failed, and return it."""
        job = self.running.pop(number, None) or Job(rule, rule, self.clock(), [])
        job.logs = [str(log) for log in logs] or job.logs  # a cluster adds its own
        self._end(job)
        self.failed[number] = job
        return job

    def _end(self, job: Job) -> None:
        self.busy += self.clock() - job.start
        self.left[job.rule] = max(self.left.get(job.rule, 0) - 1, 0)

    def pace(self) -> float:
        """Return how much longer jobs take here than in the reference run; near 1 until some ended."""
        both = {rule: took for rule, took in {**self.earlier, **self.now}.items() if rule in self.reference}
        expected = sum(len(took) * self.reference[rule] for rule, took in both.items())
        return (sum(map(sum, both.values())) + PRIOR_S) / (expected + PRIOR_S)

    def mean_seconds(self, rule: str) -> float | None:
        """Return how long a job of a rule takes, as far as it is known."""
        if known := self.now.get(rule) or self.earlier.get(rule):
            return fmean(known)
        return self.reference[rule] * self.pace() if rule in self.reference else None

    def seconds_left(self) -> tuple[float, list[str]]:
        """Return how long the run still takes, as far as it is known, and the rules of unknown time."""
        work, longest, unknown, clock = 0.0, 0.0, [], self.clock()
        for rule, count in self.left.items():
            mean = self.mean_seconds(rule) if count else None
            if mean is not None:
                begun = [min(clock - job.start, mean) for job in self.running.values() if job.rule == rule]
                work += max(count * mean - sum(begun), 0)
                longest = max(longest, mean - max(begun, default=0))
            elif count and rule not in WITHOUT_WORK:
                unknown.append(rule)
        busy = self.busy + sum(clock - job.start for job in self.running.values())
        at_a_time = busy / (clock - self.begun) if self.done and clock > self.begun else self.cores
        return max(work / max(at_a_time, 1.0), longest), unknown

    def percent(self) -> int:
        """Return the share of the jobs that are done, rounded down."""
        return 100 * self.done // self.total if self.total else 100

    def line(self, width: int = WIDTH) -> str:
        """Return in one line how far the run is; what does not fit is cut from the names of what runs now."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        names = [job.name for job in sorted(self.running.values(), key=lambda job: job.start)]
        seconds, unknown = self.seconds_left()
        known = f"{'' if unknown else 'about '}{duration(seconds)} left"
        rules = f"{len(unknown)} {'rule' if len(unknown) == 1 else 'rules'} not timed"
        left = " + ".join([*([known] if seconds or not unknown else []), *([rules] if unknown else [])])
        done = f"{self.done} of {_jobs(self.total)}{failed} in {duration(self.clock() - self.begun)}"
        now = f"; now {_some(names, NAMED)}" if names else ""
        return _cut(f"{done}; {left}{now}", width)

    def plan(self) -> str:
        """Return before the first job what is to be done."""
        rules = sorted(self.left.items(), key=lambda item: -item[1])
        named = [f"{count} {rule}" for rule, count in rules if rule not in WITHOUT_WORK]
        seconds, unknown = self.seconds_left()
        if not unknown:
            left = f"about {duration(seconds)} left"
        else:
            known = f"at least {duration(seconds)} left" if seconds else "time left not known"
            left = f"{known}; not timed yet, as they never ran here: {_some(unknown, NAMED)}"
        return f"{_jobs(self.total)}: {_some(named, PLANNED)}\n{left}"

    def end(self) -> str:
        """Return how the run ended."""
        took, done = duration(self.clock() - self.begun), f"{self.done} of {_jobs(self.total)} done"
        if self.interrupted:
            return f"stopped by you after {took}: {done}. The same command resumes."
        if self.failed:
            names = ", ".join(job.name for job in self.failed.values())
            return f"stopped after {took}: {done}, {len(self.failed)} failed ({names}). What is done is kept."
        if self.done < self.total:
            return f"stopped after {took}: {done}. The same command goes on from here."
        return f"{'' if self.total == 1 else 'all '}{_jobs(self.total)} done in {took}"


def _jobs(count: int) -> str:
    return f"{count} {'job' if count == 1 else 'jobs'}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}\u2026"


def _some(names: list[str], count: int) -> str:
    more = len(names) - count
    return ", ".join(names[:count]) + (f" and {more} more" if more > 0 else "")


class LogTail:
    """What jobs' logs say of servers that are asked again, at most once in PAUSE_S for each job."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.read: dict[str, int] = {}  # bytes of each log
        self.said: dict[str, float] = {}

    def retries(self, jobs: Iterable[Job]) -> list[str]:
        """Return a line for each job whose log has said since the last call that it asks again."""
        lines = []
        for job in jobs:
            for log in job.logs:
                found = RETRY.findall(self._new(log))
                if found and self.clock() >= self.said.get(log, -PAUSE_S) + PAUSE_S:
                    self.said[log] = self.clock()
                    seconds, which = found[-1]
                    lines.append(f"{job.name}: no reply; asks again in {duration(float(seconds))}{which}")
        return lines

    def _new(self, log: str) -> str:
        with suppress(OSError), open(log, "rb") as stream:
            stream.seek(self.read.get(log, 0))
            text = stream.read()
            self.read[log] = stream.tell()
            return text.decode(errors="replace")
        return ""


def duration(seconds: float) -> str:
    """Return a duration in two units at most: 8 s, 4 min, 1 h 20 min, 2 d 3 h."""
    minutes = round(seconds / 60)
    if seconds < 59.5:
        return f"{round(seconds)} s"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        (count, rest), large, small = divmod(minutes, 60), "h", "min"
    else:
        (count, rest), large, small = divmod(round(minutes / 60), 24), "d", "h"
    return f"{count} {large} {rest} {small}" if rest else f"{count} {large}"


def reason(log: str) -> list[str]:
    """Return what gives the reason in a failed job's log: our error, or another's place, code and message."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    lines = [line[:WIDTH] for line in lines if not line.startswith((ASKED, RAN_ON))]
    ours = [number for number, line in enumerate(lines) if line.startswith("polyreward: ")]
    if ours:
        found = lines[ours[-1] :]
        more = len(found) - PROBLEMS
        return [*found[:PROBLEMS], *([f"... ({more} more lines)"] if more > 0 else [])]
    traces = [number for number, line in enumerate(lines) if line.startswith("Traceback ")]
    if not traces:
        return lines[-LINES:]
    trace = lines[traces[-1] + 1 :]
    message = next((number for number, line in enumerate(trace) if not line.startswith(" ")), len(trace))
    frames = [number for number, line in enumerate(trace[:message]) if re.match(r'\s+File "', line)]
    frame = trace[frames[-1] : message][:2] if frames else []
    return [line.strip() for line in [*frame, *trace[message:]][:LINES]]


def failure(job: Job, after: float, executor: str | None = None) -> str:
    """Return which job failed after so many seconds, the reason by its log, and where that is.

    executor: its words, such as a cluster's that the job ran out of memory.
    """
    why = reason(_log_text(job)) or [SILENT if job.logs else "it has no log"]
    lines = [*(executor or "").split("\n"), *why, *(f"log: {log}" for log in job.logs)]
    return "\n  ".join([f"failed: {job.name}, after {duration(after)}", *filter(None, lines)])


def _log_text(job: Job) -> str:
    logs = [Path(log) for log in job.logs]
    return "".join(log.read_text(encoding="utf-8", errors="replace") for log in logs if log.is_file())
