"""The share of a translation that is still in the source language, where an engine gave nothing sound."""

from collections.abc import Sequence

import pandas as pd

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.translation.engines import prose_units, roles_of

UNTRANSLATED_COLUMNS = ["rows", "language", "section", "source_left_pct", "untranslated_pct", "n_texts"]
ALL = "all"


def untranslated_rows(source: Sequence[dict], translated: Sequence[dict], **key: str) -> pd.DataFrame:
    """Return UNTRANSLATED_COLUMNS for each section (a row's category) and for all.

    Rows are matched by id. source_left_pct is the share (%) of the source's letters, outside code, in
    sentences that are unchanged in the translation. untranslated_pct is the share (%) of texts with letters
    outside code that equal their source.

    Raises:
        PolyrewardError: a translated row has no source.
    """
    by_id = {row["id"]: row for row in source}
    if any(row["id"] not in by_id for row in translated):
        raise PolyrewardError("untranslated: some translated ids have no source; translate again")
    records = []
    for row in translated:
        texts = [
            pair
            for role in roles_of(row)
            for pair in zip(contents(by_id[row["id"]][role]), contents(row[role]), strict=True)
        ]
        records += [
            {"section": row.get("category") or ALL, **_left(before, after)} for before, after in texts
        ]
    table = pd.DataFrame(records, columns=["section", "letters", "left", "same"])
    table = table[table["letters"] > 0]
    parts = [(name, part) for name, part in table.groupby("section", sort=False) if name != ALL]
    return pd.DataFrame(
        [
            {
                **key,
                "section": name,
                "source_left_pct": 100 * part["left"].sum() / part["letters"].sum(),
                "untranslated_pct": 100 * part["same"].mean(),
                "n_texts": len(part),
            }
            for name, part in [*parts, (ALL, table)]
            if len(part)
        ],
        columns=UNTRANSLATED_COLUMNS,
    )


def _left(source: str, target: str) -> dict:
    units = [(unit, sum(map(str.isalpha, unit))) for unit in prose_units(source)]
    left = sum(letters for unit, letters in units if unit in target)
    return {"letters": sum(letters for _, letters in units), "left": left, "same": source == target}
