"""One line on how far a run is, instead of Snakemake's account of every job; the default profile asks for it.

A terminal shows one line, kept up to date. A file gets a line at each 5% and once a minute. Snakemake still
writes its own account to `.snakemake/log`; POLYREWARD_LOG=snakemake shows that instead. Snakemake finds this
package by its name.
"""

import os
import re
import shutil
import signal
import sys
import threading
import time
from logging import ERROR, WARNING, LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LOADED = set(sys.modules)

from polyreward.core.logs import LOG_ONLY  # noqa: E402
from polyreward.ops.progress import LogTail, Run, failure, known_seconds, reference_seconds  # noqa: E402
from polyreward.ops.scales import NO_RULE, nearest_artifact  # noqa: E402

# The environment's polyreward may be another clone's. Rules import the one that they belong to.
for name in set(sys.modules) - LOADED:
    if name.partition(".")[0] == "polyreward":
        del sys.modules[name]

STEP_PERCENT, STEP_S = 5, 60  # between two lines where there is no terminal
REFRESH_S = 1  # on one
# Snakemake's words after a failure that this plugin has already shown
REPEATED = re.compile(
    "Exiting because a job|At least one job did not|CalledProcessError|RuleException|Removing output files of"
)
# Snakemake's words around an error of ours: where in the rules it was raised
FRAME = re.compile(r'^(WorkflowError in file ".*", line \d+:|  File ".*", line \d+, in .*)\n?', re.MULTILINE)
SHOWN = ("Nothing to be done", "Trying to restart job")
EVERY_JOB = "POLYREWARD_LOG"  # environment variable
CLEAR = "\r\033[2K"  # a terminal's line


class LogHandler(LogHandlerBase):
    """Shows Snakemake's events to a person."""

    writes_to_stream = True  # instead of Snakemake's own handler
    writes_to_file = False  # Snakemake's handler does
    has_filter = False  # `--quiet` works
    has_formatter = False  # a dry run is in Snakemake's words
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Look at where the output goes. Jobs then write progress to their logs only, not over the line."""
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        settings, elsewhere = self.common_settings, "--mode" in sys.argv  # a job that Snakemake has started
        by_hand = os.environ.get(EVERY_JOB) == "snakemake"
        self.framed = settings.verbose or elsewhere or by_hand  # with the places in the rules
        self.whole = settings.dryrun or self.framed  # all of Snakemake's words
        self.run: Run | None = None
        self.tail, self.begun = LogTail(), time.monotonic()
        self.interrupted = self.failed_early = False
        self.before_run: list[str] = []  # Snakemake's words, shown where no run follows, as of --unlock
        self.cores, self.planned = 1, False
        self.held: list[str] = []  # of Snakemake's words, until a job's log explains them
        self.shown_percent, self.shown_at, self.ended = 0, time.monotonic(), threading.Event()
        self.writing = threading.Lock()
        if not self.whole:
            os.environ[LOG_ONLY] = "1"
            self._note_interrupts()
            threading.Thread(target=self._keep_up, daemon=True).start()

    def emit(self, record: LogRecord) -> None:
        """Take one of Snakemake's events."""
        try:
            if record.levelno >= ERROR and NO_RULE.search(text := record.getMessage()):
                self.failed_early = True
                self._write(nearest_artifact(text, Path.cwd()))
            elif self.whole:
                text = self.format(record)
                unframed = record.levelno >= ERROR and not self.framed
                self._write(FRAME.sub("", text).rstrip() if unframed else text)
            else:
                with self.writing:
                    self._take(record)
        except Exception:  # noqa: BLE001 - a fault in what is shown must not end the run
            self.handleError(record)

    def close(self) -> None:
        """Show how the run ended; Snakemake may call it twice."""
        with self.writing:
            run, self.run = self.run, None
            quiet = self.interrupted or (run.failed if run else self.failed_early)
            for text in [] if quiet else self.held if run else self.before_run:
                self._write(text)
            self.before_run = []
            if run and self.planned:
                run.interrupted = self.interrupted
                self._write(run.end())
            elif self.interrupted and not self.ended.is_set():
                self._write("stopped by you before the first job. The same command starts again.")
            self.ended.set()
        super().close()

    def _note_interrupts(self) -> None:
        """Know from now on when the user interrupts the run, before its jobs end."""
        before = signal.getsignal(signal.SIGINT)
        if not callable(before) or threading.current_thread() is not threading.main_thread():
            return

        def noted(number, frame):
            self.interrupted = True
            before(number, frame)

        signal.signal(signal.SIGINT, noted)

    def _take(self, record: LogRecord) -> None:
        event, run = getattr(record, "event", None), self.run
        if event == LogEvent.RESOURCES_INFO and getattr(record, "cores", None):
            self.cores = record.cores
        elif event == LogEvent.RUN_INFO and run is None:
            self.run = Run(record.stats, cores=self.cores)
        elif event == LogEvent.JOB_INFO and run:
            if record.benchmark and not self.planned:
                self.planned = True
                benchmarks = Path(record.benchmark).parents[1]
                run.earlier = known_seconds(benchmarks)  # this scale's earlier runs
                run.reference = reference_seconds(benchmarks.parent)
                self._write(run.plan())
            run.start(record.jobid, record.rule_name, record.wildcards, record.log)
        elif event == LogEvent.JOB_FINISHED and run:
            for line in run.finish(record.job_id):
                self._write(line)
            self._show(run)
        elif self.interrupted:
            return  # jobs that were ended have not failed
        elif event == LogEvent.JOB_ERROR and run:
            job = run.fail(record.jobid, record.rule_name, record.log)
            # Of a group that fails on a cluster Snakemake names every job, also those that had not begun.
            if not record.indent or any(Path(log).is_file() for log in job.logs):
                self._write(failure(job, run.clock() - job.start, record.rule_msg))
        elif record.levelno >= WARNING:
            text = FRAME.sub("", record.getMessage()).rstrip()
            if run and REPEATED.search(text):
                self.held.append(text)
            else:
                self.failed_early = run is None and record.levelno >= ERROR
                self._write(text)
        elif event is None and record.getMessage().startswith(SHOWN):
            self.before_run = []
            self._write(record.getMessage())
        elif event is None and run is None:
            self.before_run.append(record.getMessage())

    def _show(self, run: Run) -> None:
        """Show how far the run is: on a terminal at once, else where enough has changed."""
        if self.live:
            self.stream.write(CLEAR + run.line(shutil.get_terminal_size().columns - 1))
            self.stream.flush()
        elif run.percent() >= self.shown_percent + STEP_PERCENT or time.monotonic() >= self.shown_at + STEP_S:
            self.shown_percent, self.shown_at = run.percent(), time.monotonic()
            self._write(run.line())

    def _keep_up(self) -> None:
        while not self.ended.wait(REFRESH_S):
            with self.writing:
                if self.run and self.planned:
                    for line in self.tail.retries(self.run.running.values()):
                        self._write(line)
                    self._show(self.run)
                elif self.live:
                    seconds = time.monotonic() - self.begun
                    self.stream.write(f"{CLEAR}planning what to run, {seconds:.0f} s so far")
                    self.stream.flush()

    def _write(self, text: str) -> None:
        if text and text != "None":
            self.stream.write(f"{CLEAR if self.live else ''}{text}\n")
            self.stream.flush()
