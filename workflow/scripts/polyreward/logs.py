"""One log per job: logging, warnings, prints, tracebacks and child processes all reach it."""

import logging
import os
import sys
import warnings

_terminal = None  # the stream that was standard error before start_log took it


def start_log(path: str) -> None:
    """Send everything this process and its children print to `path`.

    A child (pip, say) inherits the file descriptors, so redirecting these catches what Python's logging cannot."""
    global _terminal
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    stream = open(path, "w", buffering=1, encoding="utf-8")  # noqa: SIM115 - stays open as long as the job
    sys.stdout.flush()
    sys.stderr.flush()
    _terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    sys.stdout = sys.stderr = stream
    logging.basicConfig(stream=stream, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", force=True)
    logging.captureWarnings(True)
    warnings.simplefilter("default")


def announce(text: str) -> None:
    """Print one line of progress for a person: on the terminal, and in the log where one was started."""
    print(text, file=sys.stderr, flush=True)
    if _terminal is not None:
        print(text, file=_terminal, flush=True)
