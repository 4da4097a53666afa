"""The one error that users see: what is wrong, where, and how to fix it."""

import difflib
from collections.abc import Collection, Iterable, Iterator

LISTED = 24  # a catalog with more names is not listed in an error


class PolyrewardError(Exception):
    """A problem that the user can fix; its text names what, where and how."""


def raise_all(problems: Iterable[str], where: str) -> None:
    """Raise one PolyrewardError that lists every problem; do nothing when there is none."""
    problems = list(problems)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise PolyrewardError(f"{where}: {count}\n{listed}")


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is most like a mistyped one; None where none is."""
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def unknown_name(name: str, known: Collection[str], catalog: str) -> str:
    """Return in words that a name is not among the known ones, and the nearest of those. A long catalog is not listed whole."""
    there = f"has {', '.join(sorted(known))}" if len(known) <= LISTED else f"has {len(known)} names"
    near = nearest(name, known)
    return f"`{name}` is unknown; {catalog} {there}{f'; did you mean `{near}`?' if near else ''}"


def unknown(what: str, names: Collection[str], known: Collection[str], catalog: str) -> Iterator[str]:
    """Yield a problem for each name that is not among the known ones, with the nearest known name."""
    for name in names:
        if name not in known:
            yield f"{what}: {unknown_name(name, known, catalog)}"
