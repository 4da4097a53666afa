"""`snakemake --logger polyreward`: one line on how far a run is in place of Snakemake's account of every job.

On a terminal the line is kept up to date; in a file it is written at each 5% and once a minute. Snakemake's
own account of the run stands in `.snakemake/log` as ever. Snakemake finds this package by its name."""

import os
import re
import shutil
import sys
import threading
import time
from logging import ERROR, WARNING, LogRecord
from pathlib import Path
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from polyreward.core.logs import LOG_ONLY
from polyreward.ops.progress import Run, Seconds, failure, known_seconds

# The environment's polyreward may be another clone's; rules import the one that they belong to.
for name in [name for name in sys.modules if name.partition(".")[0] == "polyreward"]:
    del sys.modules[name]

STEP_PERCENT, STEP_S = 5, 60  # between two lines where there is no terminal
REFRESH_S = 1  # on one
# What Snakemake adds to a failure that has been told already
SAID_OTHERWISE = re.compile(
    "Exiting because a job|At least one job did not|CalledProcessError|RuleException|Removing output files of"
)
WORTH_SAYING = ("Nothing to be done", "Trying to restart job")
RED, DIM, PLAIN, CLEAR = "\033[31m", "\033[2m", "\033[0m", "\r\033[2K"


class LogHandler(LogHandlerBase):
    """Snakemake's events, as a person wants to read them."""

    stream: TextIO

    def __post_init__(self) -> None:
        """Look at where the output goes. Jobs then tell their logs alone of their progress: they would write
        over the line."""
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.colours = self.live and not self.common_settings.nocolor and not os.environ.get("NO_COLOR")
        self.whole = bool(
            self.common_settings.dryrun or self.common_settings.verbose
        )  # Snakemake's own words, all of them
        self.run: Run | None = None
        self.earlier: dict[str, Seconds] = {}
        self.planned = False
        self.held: list[str] = []
        self.said_percent, self.said_at, self.ended = 0, time.monotonic(), threading.Event()
        self.writing = threading.Lock()
        if not self.whole:
            os.environ[LOG_ONLY] = "1"
            threading.Thread(target=self._keep_up, daemon=True).start()

    def emit(self, record: LogRecord) -> None:
        """Take one of Snakemake's events."""
        try:
            if self.whole:
                self._say(self.format(record))
            else:
                with self.writing:
                    self._take(record)
        except Exception:  # noqa: BLE001 - a fault in what is shown must not end the run
            self.handleError(record)

    def close(self) -> None:
        """Say how the run ended; Snakemake may call it twice."""
        with self.writing:
            run, self.run = self.run, None
            if run and not run.failed:  # no job's log has said it
                for text in self.held:
                    self._say(text, RED)
            if run and self.planned:
                self._say(run.end(), RED if run.failed else "")
            self.ended.set()
        super().close()

    def _take(self, record: LogRecord) -> None:
        event, run = getattr(record, "event", None), self.run
        if event == LogEvent.RUN_INFO and run is None:
            self.run, self.earlier = (
                Run(record.stats),
                {str(path): known_seconds(path) for path in benchmark_folders()},
            )
        elif event == LogEvent.JOB_INFO and run:
            self._plan(run, record.benchmark)
            run.start(record.jobid, record.rule_name, record.wildcards, record.log)
        elif event == LogEvent.JOB_FINISHED and run:
            run.finish(record.job_id)
            self._show(run)
        elif event == LogEvent.JOB_ERROR and run:
            job = run.fail(record.jobid, record.rule_name, record.log)
            # Of a group that fails on a cluster Snakemake names every job, also those that had not begun.
            if not record.indent or any(Path(log).is_file() for log in job.logs):
                self._say(failure(job, run.clock() - job.start, record.rule_msg), RED)
        elif record.levelno >= WARNING:
            text = record.getMessage()
            if run and SAID_OTHERWISE.search(text):
                self.held.append(text)
            else:
                self._say(text, RED if record.levelno >= ERROR else "")
        elif event is None and record.getMessage().startswith(WORTH_SAYING):
            self._say(record.getMessage())

    def _plan(self, run: Run, benchmark: str | None) -> None:
        """Say what is to be done; a job's benchmark file tells in which folder earlier runs of this scale
        left theirs."""
        if benchmark and not run.earlier:
            run.earlier = self.earlier.get(str(Path(benchmark).parents[1]), {})
        if benchmark and not self.planned:
            self.planned = True
            self._say(run.plan())

    def _show(self, run: Run) -> None:
        """Show how far the run is: on a terminal at once, else where enough has changed since the last
        line."""
        if self.live:
            line = run.line()[: shutil.get_terminal_size().columns - 1]
            self.stream.write(CLEAR + (f"{DIM}{line}{PLAIN}" if self.colours else line))
            self.stream.flush()
        elif run.percent() >= self.said_percent + STEP_PERCENT or time.monotonic() >= self.said_at + STEP_S:
            self.said_percent, self.said_at = run.percent(), time.monotonic()
            self._say(run.line())

    def _keep_up(self) -> None:
        """Renew the line while jobs run, in a thread of its own."""
        while not self.ended.wait(REFRESH_S):
            with self.writing:
                if self.run and self.run.running:
                    self._show(self.run)

    def _say(self, text: str, colour: str = "") -> None:
        """Write lines that stay, in place of the one that is kept up to date."""
        if text and text != "None":
            shown = f"{colour}{text}{PLAIN}" if colour and self.colours else text
            self.stream.write(f"{CLEAR if self.live else ''}{shown}\n")
            self.stream.flush()

    @property
    def writes_to_stream(self) -> bool:
        """Yes: in place of Snakemake's own handler."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """No; Snakemake still writes its own account to `.snakemake/log`."""
        return False

    @property
    def has_filter(self) -> bool:
        """No: `--quiet` works as ever."""
        return False

    @property
    def has_formatter(self) -> bool:
        """No: a dry run is shown in Snakemake's words."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """No."""
        return False


def benchmark_folders() -> list[Path]:
    """Return where runs of every scale leave what their jobs took."""
    return [
        path for path in (Path("results/benchmarks"), *Path("results").glob("*/benchmarks")) if path.is_dir()
    ]
