"""One log per job: logging, warnings, prints, tracebacks and child processes all reach it."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polyreward.core.inert import printable
from polyreward.core.processes import is_main

MARK = "announce: "  # before a line that the job which started this process is to announce
# Environment variable that is set where another program shows the progress of jobs.
LOG_ONLY = "POLYREWARD_LOG_ONLY"
_terminal = None  # the stream that was standard error before start_log took it
_before = ""
_unannounced = False


def start_log(path: str) -> None:
    """Send everything this process and its children print to `path`.

    A child (pip, say) inherits the file descriptors, so redirecting these catches what Python's logging
    cannot."""
    global _terminal
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    stream = open(path, "w", buffering=1, encoding="utf-8")  # noqa: SIM115 - stays open as long as the job
    sys.stdout.flush()
    sys.stderr.flush()
    if not os.environ.get(LOG_ONLY):
        _terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    sys.stdout = sys.stderr = stream
    logging.basicConfig(
        stream=stream, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    logging.captureWarnings(True)
    warnings.simplefilter("default")


def mark_announcements() -> None:
    """From now on mark what is announced, in a process that a job has started and listens to."""
    global _before
    _before = MARK


def announce(text: str) -> None:
    """Print one line of progress for a person: on the terminal, and in the log where one was started.

    Of several processes that train together the main one alone does."""
    if not is_main():
        return
    text = printable(text)
    print("\n".join(_before + line for line in text.split("\n")), file=sys.stderr, flush=True)
    if _terminal is not None:
        print(text, file=_terminal, flush=True)


@contextmanager
def unannounced() -> Iterator[None]:
    """Show no progress inside: of a part of something that shows its own."""
    global _unannounced
    before, _unannounced = _unannounced, True
    try:
        yield
    finally:
        _unannounced = before


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far a job is; yields a function to call with the number of items done since the last call.

    A bar on a person's terminal; in a pipeline, where several jobs share the terminal, a line at each
    quarter."""
    if _unannounced:
        yield lambda count: None
        return
    if _terminal is None and sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=label, unit=" texts") as bar:
            yield bar.update
        return
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        before, done = done, done + count
        if done * 4 // total > before * 4 // total:
            announce(f"{label}: {done}/{total}")

    yield advance
