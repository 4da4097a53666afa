"""One run at a time in a folder, by locks of the kernel, which end with the process that holds them.

A run holds RUN, and each of its jobs holds JOBS. A job that a killed run left still writes, so that a new run
waits for it, too: two trainings of one model would delete each other's checkpoints.
"""

import fcntl
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

RUN, JOBS = Path(".snakemake/polyreward.run.lock"), Path(".snakemake/polyreward.jobs.lock")
PATIENCE_S = 3  # in which the processes of a run that was just ended are gone


def hold_folder() -> None:
    """Let no other run work in this folder while this process lives; for `onstart`, which only runs call.

    Raises:
        WorkflowError: another run works here, or a job that a killed run left.
    """
    from snakemake.exceptions import WorkflowError

    until = time.monotonic() + PATIENCE_S
    try:
        if not _locked(RUN, until):
            raise WorkflowError(
                f"{Path.cwd()}: another run works in this folder. Wait until it ends, or end it"
                f" ({_holders(RUN, 'kill -INT')}). Then give the same command again"
            )
        jobs = _locked(JOBS, until)
        if not jobs:
            raise WorkflowError(
                f"{Path.cwd()}: jobs of a killed run still work in this folder. Wait until they end, or"
                f" end them ({_holders(JOBS, 'kill')}). Then give the same command again"
            )
        os.close(jobs)  # for the jobs of this run
    except OSError as error:
        print(
            f"{Path.cwd()}: cannot be locked ({error}), so polyreward does not see another run in this"
            " folder. Start none before this one ends",
            file=sys.stderr,
        )


def join_folder() -> None:
    """Let no run but this job's start in this folder while this process lives."""
    with suppress(OSError):  # hold_folder has said that there are no locks here
        fcntl.flock(_opened(JOBS), fcntl.LOCK_SH)


def _opened(path: Path) -> int:
    """Return a file's descriptor, which no program inherits, such as a server that outlives its job."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _locked(path: Path, until: float) -> int | None:
    """Return the descriptor that holds a file's lock until it is closed; None where others keep it."""
    file = _opened(path)
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(file)
                return None
            time.sleep(0.1)


def _holders(path: Path, kill: str) -> str:
    """Return the command that ends the processes which have a file open."""
    import psutil  # which environments of jobs lack

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(Path(file.path) == path.absolute() for file in process.open_files()):
                found.append(process.pid)
    named = " ".join(map(str, sorted(found)))
    return f"`{kill} {named}`" if named else "by another user, or on another machine"
