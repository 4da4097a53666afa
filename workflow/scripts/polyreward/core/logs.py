"""One log per job, for logging, warnings, prints, tracebacks and child processes."""

import errno
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from polyreward.core.errors import PolyrewardError, lacks_memory
from polyreward.core.inert import printable
from polyreward.core.processes import is_main, rank

# Begin the first lines of a job's log, which `polyreward costs` and docs/fill.py read
ASKED = "asked for: "
RAN_ON = "ran on: "
WARNED = "warning: "  # before a line that the run shows when its job has ended
MARK = "announce: "  # before a line that the job which started this process is to announce
# Environment variable that is set where another program shows the progress of jobs.
LOG_ONLY = "POLYREWARD_LOG_ONLY"
# As every library words them, whatever exception it raises
FULL_DISK = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
_terminal = None  # the stream that was standard error before start_log took it
_before = ""
_unannounced = False


def start_log(path: str) -> None:
    """Send everything that this process and its children print to `path`, by its file descriptors."""
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
    """Mark later announcements, in a process that a job has started and listens to."""
    global _before
    _before = MARK


def announce(text: str) -> None:
    """Print progress to the terminal and the log; of processes that train together, the main one does."""
    if not is_main():
        return
    text = printable(text)
    print("\n".join(_before + line for line in text.split("\n")), file=sys.stderr, flush=True)
    if _terminal is not None:
        print(text, file=_terminal, flush=True)


def warn(text: str) -> None:
    """Announce what the user should look at; a run with a line of progress shows it, too, in one line."""
    announce(f"{WARNED}{text}")


def left_out_text(reasons: Mapping[str, Sequence[str]], named: bool = True) -> str:
    """Return how many things are left out for which reason, and which of them, where `named`."""
    which = {reason: f" ({', '.join(names)})" if named else "" for reason, names in reasons.items()}
    return "; ".join(f"{reason}: {len(names)}{which[reason]}" for reason, names in reasons.items())


def report(kind, error, trace) -> None:
    """Print user errors as text, others with a traceback, a full disk or memory with both."""
    if isinstance(error, PolyrewardError):
        text = f"\npolyreward: {error}\n"
    else:
        text = "".join(traceback.format_exception(kind, error, trace))
        if any(words in str(error) for words in FULL_DISK):
            text += (
                "\npolyreward: a disk is full, or your share of it. Free some and run again: what is finished"
                " is kept.\n"
            )
        if lacks_memory(error):
            text += (
                "\npolyreward: memory ran out. Run fewer jobs at a time (`make CORES=1`, or `MEM_MB=` less),"
                " or lower what a job takes at once (scoring.token_budget; a training's batch_size), and run"
                " again: what is finished is kept.\n"
            )
    announce(text) if is_main() else print(f"process {rank()}: {text.strip()}", file=sys.stderr)


@contextmanager
def unannounced() -> Iterator[None]:
    """Show no progress inside, for a part of a task that shows its own."""
    global _unannounced
    before, _unannounced = _unannounced, True
    try:
        yield
    finally:
        _unannounced = before


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a job's progress; yield a function to call with the number of items done since its last call.

    A person's terminal shows a bar. A pipeline's shared terminal gets a line at each quarter."""
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
            announce(f"{label}: {done} of {total} texts")

    yield advance
