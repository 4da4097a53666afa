"""Which rules share the work of another one, read from how workflow/rules/ declares them."""

import re
from collections.abc import Collection
from pathlib import Path


def originals(root: Path) -> dict[str, str]:
    """Return {rule: the one that it is made of} of the rules that are another with other files (`use rule`).

    root: of the checkout."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "workflow/rules").glob("*.smk"))]
    pairs = [
        pair for text in texts for pair in re.findall(r"^use rule (\w+) as (\w+) with:", text, re.MULTILINE)
    ]
    return {name: original for original, name in pairs}


def with_work(rule: str, known: Collection[str], made_of: dict[str, str]) -> str:
    """Return the rule in whose work a rule's jobs are counted: the nearest that has some, of itself and those
    it is made of.

    known: rules that have work of their own.
    made_of: as originals returns it. A rule that a loop numbers loses its number; one that shares no work
    is returned as it
        is."""
    found = re.sub(r"_\d+$", "", rule)
    while found not in known and found in made_of:
        found = made_of[found]
    return found if found in known else rule
