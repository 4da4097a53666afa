"""`snakemake --logger polyreward`: one line on how far a run is, instead of an account of every job.

A terminal shows one line, kept up to date. A file gets a line at each 5% and once a minute. Snakemake still
writes its own account to `.snakemake/log`. Snakemake finds this package by its name. It takes each word
after `--logger` as a logger: an option must follow, not a file.
"""

import os
import re
import shutil
import sys
import threading
import time
from logging import WARNING, LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LOADED = set(sys.modules)

from polyreward.core.logs import LOG_ONLY  # noqa: E402
from polyreward.ops.progress import Run, failure, known_seconds, reference_seconds  # noqa: E402

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
SHOWN = ("Nothing to be done", "Trying to restart job")
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
        self.whole = self.common_settings.dryrun or self.common_settings.verbose  # all of Snakemake's words
        self.run: Run | None = None
        self.cores, self.planned = 1, False
        self.held: list[str] = []  # of Snakemake's words, until a job's log explains them
        self.shown_percent, self.shown_at, self.ended = 0, time.monotonic(), threading.Event()
        self.writing = threading.Lock()
        if not self.whole:
            os.environ[LOG_ONLY] = "1"
            threading.Thread(target=self._keep_up, daemon=True).start()

    def emit(self, record: LogRecord) -> None:
        """Take one of Snakemake's events."""
        try:
            if self.whole:
                self._write(self.format(record))
            else:
                with self.writing:
                    self._take(record)
        except Exception:  # noqa: BLE001 - a fault in what is shown must not end the run
            self.handleError(record)

    def close(self) -> None:
        """Show how the run ended; Snakemake may call it twice."""
        with self.writing:
            run, self.run = self.run, None
            for text in self.held if run and not run.failed else []:
                self._write(text)
            if run and self.planned:
                self._write(run.end())
            self.ended.set()
        super().close()

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
            run.finish(record.job_id)
            self._show(run)
        elif event == LogEvent.JOB_ERROR and run:
            job = run.fail(record.jobid, record.rule_name, record.log)
            # Of a group that fails on a cluster Snakemake names every job, also those that had not begun.
            if not record.indent or any(Path(log).is_file() for log in job.logs):
                self._write(failure(job, run.clock() - job.start, record.rule_msg))
        elif record.levelno >= WARNING:
            text = record.getMessage()
            if run and REPEATED.search(text):
                self.held.append(text)
            else:
                self._write(text)
        elif event is None and record.getMessage().startswith(SHOWN):
            self._write(record.getMessage())

    def _show(self, run: Run) -> None:
        """Show how far the run is: on a terminal at once, else where enough has changed."""
        if self.live:
            self.stream.write(CLEAR + run.line()[: shutil.get_terminal_size().columns - 1])
            self.stream.flush()
        elif run.percent() >= self.shown_percent + STEP_PERCENT or time.monotonic() >= self.shown_at + STEP_S:
            self.shown_percent, self.shown_at = run.percent(), time.monotonic()
            self._write(run.line())

    def _keep_up(self) -> None:
        while not self.ended.wait(REFRESH_S):
            with self.writing:
                if self.run and self.run.running:
                    self._show(self.run)

    def _write(self, text: str) -> None:
        if text and text != "None":
            self.stream.write(f"{CLEAR if self.live else ''}{text}\n")
            self.stream.flush()
