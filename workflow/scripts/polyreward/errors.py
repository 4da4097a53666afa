"""The one error that users see: what is wrong, where, and how to mend it."""

from collections.abc import Iterable


class PolyrewardError(Exception):
    """A problem that the user can mend; its text names what, where and how."""


def raise_all(problems: Iterable[str], where: str) -> None:
    """Raise one PolyrewardError that lists every problem; do nothing when there is none."""
    problems = list(problems)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise PolyrewardError(f"{where}: {count}\n{listed}")
