"""Who else works here: locks of the system's, which end with their process however it ends, and what a killed
run left behind.

Snakemake's own lock is a file that outlives a kill. Beside it each Snakemake holds one of the system's, so
that the next one knows a dead run's lock from a live one's. Standard library alone: the Snakefile imports
it."""

import contextlib
import fcntl
import glob
import hashlib
import os
import platform
import shutil
from pathlib import Path
from typing import IO

from polyreward.core.errors import PolyrewardError

STATE = Path(".snakemake")
_held: list[IO] = []  # open, and so locked, as long as this process lives


def hold_job(log: str, state: Path = STATE) -> None:
    """Note that this process does the job with this log; nothing is noted where the file system knows no
    locks.

    Raises PolyrewardError where another process does it, one that a killed run left, say."""
    place = int.from_bytes(
        hashlib.sha256(log.encode()).digest()[:6], "big"
    )  # a byte for each job, none of them written
    with contextlib.suppress(OSError):
        state.mkdir(exist_ok=True)
        stream = open(state / "polyreward.jobs", "a", encoding="utf-8")  # noqa: SIM115 - stays open as long as the process
        _held.append(stream)
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):  # POSIX allows both
            holder = _holder(os.fstat(stream.fileno()).st_ino, place)
            raise PolyrewardError(
                f"{log}: the job of this log runs already, as {holder}; a run that was killed may have left"
                " it. Wait until it ends, or end it, then run again"
            ) from None


def _holder(inode: int, place: int) -> str:
    """Name the process that has locked a byte of a file."""
    with contextlib.suppress(OSError):  # /proc/locks is Linux's
        for row in map(str.split, Path("/proc/locks").read_text(encoding="ascii").splitlines()):
            if row[1] == "POSIX" and row[5].endswith(f":{inode}") and row[6] == str(place):
                return f"process {row[4]} (`kill {row[4]}` ends it)"
    return "a process of another machine"


def hold_folder(state: Path = STATE) -> bool:
    """Note that this process works in a folder of Snakemake's, and remove what a killed run left there.

    Returns whether it removed something. Where another process of this machine works in the folder, or
    another machine had it last, nothing is touched, and Snakemake's own lock decides."""
    with contextlib.suppress(OSError):  # a folder that is not ours to write, or a file system without locks
        state.mkdir(exist_ok=True)
        stream = open(state / "polyreward.lock", "a+", encoding="utf-8")  # noqa: SIM115 - stays open as long as the process
        _held.append(stream)
        alone = _locked(stream)
        stream.seek(0)
        alone = alone and stream.read() in ("", platform.node())
        if alone:
            stream.truncate(0)
            stream.write(platform.node())
            stream.flush()
        found = _tidied(state) if alone else False
        fcntl.flock(stream, fcntl.LOCK_SH)
        return found
    return False


def _locked(stream: IO) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tidied(state: Path) -> bool:
    """Remove a dead run's locks, and the half-written files beside the outputs that they name."""
    locks = sorted((state / "locks").glob("*.lock"))
    for lock in locks:
        outputs = lock.read_text(encoding="utf-8").splitlines() if lock.name.endswith(".output.lock") else []
        for output in map(Path, outputs):
            for half in output.parent.glob(
                f".{glob.escape(output.name)}.????????"
            ):  # as files.whole_file names them
                shutil.rmtree(half, ignore_errors=True)
        lock.unlink()
    return bool(locks)
