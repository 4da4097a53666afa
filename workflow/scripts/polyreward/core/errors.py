"""Errors that users see: what is wrong, where, and how to fix it."""

import difflib
import errno
import os
from collections.abc import Collection, Iterable, Iterator

LISTED = 24  # a catalog with more names is not listed in an error
LONGEST = 240  # characters of a reason in a table


class PolyrewardError(Exception):
    """A problem that the user can fix; the text says what, where and how."""


class UnavailableError(PolyrewardError):
    """A model that cannot be loaded or run here, today or tomorrow: gone, gated, or with an unknown head.

    With `missing: row` it becomes an empty row, so an outage or a lack of memory must never raise it.
    """


# The system's words for a lack of memory, PyTorch's on a CPU, CUDA's, and cuBLAS's
NO_MEMORY = (
    os.strerror(errno.ENOMEM),
    "can't allocate memory",
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)
GONE = {"EntryNotFoundError", "GatedRepoError", "RepositoryNotFoundError", "RevisionNotFoundError"}
CONNECTING = {"httpcore", "httpx", "httpx2", "huggingface_hub", "openai", "requests", "urllib3"}


def is_outage(error: BaseException | None) -> bool:
    """Return whether a connection, server, disk or system caused an error that another run may not see."""
    while error is not None:
        if type(error).__name__ in GONE:
            return False
        if type(error).__module__.split(".")[0] in CONNECTING:
            return True
        if isinstance(error, ConnectionError | TimeoutError) or (isinstance(error, OSError) and error.errno):
            return True
        error = error.__cause__ or error.__context__
    return False


def lacks_memory(error: BaseException | None) -> bool:
    """Return whether an error, or what caused it, says that memory ran out, which other programs may hold."""
    while error is not None:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            return True
        if any(words in str(error) for words in NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def raise_all(problems: Iterable[str], where: str, most: int | None = None) -> None:
    """Raise one PolyrewardError that lists the first `most` problems (None: all), if there are any."""
    problems = list(problems)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems[:most])
        if most is not None and len(problems) > most:
            listed += f"\n  and {len(problems) - most} more"
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise PolyrewardError(f"{where}: {count}\n{listed}")


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is most similar to a mistyped one, or None."""
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def unknown_name(name: str, known: Collection[str], catalog: str) -> str:
    """Say that a name is unknown, with the nearest known one and, of a short catalog, all."""
    there = f"has {', '.join(sorted(known))}" if len(known) <= LISTED else f"has {len(known)} names"
    near = nearest(name, known)
    return f"`{name}` is unknown; {catalog} {there}{f'; did you mean `{near}`?' if near else ''}"


def unknown(what: str, names: Collection[str], known: Collection[str], catalog: str) -> Iterator[str]:
    """Yield a problem for each unknown name, with the nearest known one."""
    for name in names:
        if name not in known:
            yield f"{what}: {unknown_name(name, known, catalog)}"


def first_line(error: BaseException) -> str:
    """Return an error's first line, cut to LONGEST, as the reason in an empty row."""
    text = str(error) if isinstance(error, PolyrewardError) else f"{type(error).__name__}: {error}"
    line = text.strip().splitlines()[0].rstrip(".")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}\u2026"


def how_to_retry(path: object) -> str:
    """Say how to retry what a file or folder is missing."""
    return f"`make again` asks again, or add `--forcerun {path}` to Snakemake's arguments"
