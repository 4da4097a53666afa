"""Rows that bring their own translations, which people or their authors made: no engine touches them."""

from collections.abc import Callable, Sequence

from polyreward.translation.engines import KEPT

Rows = Sequence[dict]


def with_released(rows: Rows, language: str, translate: Callable[[Rows], list[dict]]) -> list[dict]:
    """Return the rows in a language, in their order.

    A row's own `translations` {language: {role: text}} count; translate: makes those of rows that have none,
    and may leave some out, as a catalog does that has a part."""
    own = {row["id"]: _released(row, language) for row in rows if language in row.get("translations", {})}
    rest = [row for row in rows if row["id"] not in own]
    found = own | {row["id"]: row for row in (translate(rest) if rest else [])}
    return [found[row["id"]] for row in rows if row["id"] in found]


def _released(row: dict, language: str) -> dict:
    return {**{key: row[key] for key in KEPT if key in row}, **row["translations"][language]}
