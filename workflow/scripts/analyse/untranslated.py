"""Count how much of the translated rows is still in the source language."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.translation.engines import prose_units, roles_of

UNTRANSLATED_COLUMNS = ["rows", "language", "section", "source_left_pct", "untranslated_pct", "n_texts"]
ALL = "all"


def untranslated_rows(source: Sequence[dict], translated: Sequence[dict], **key: str) -> pd.DataFrame:
    """Return UNTRANSLATED_COLUMNS for each section (a row's category) and for all rows, matched by id.

    source_left_pct: percentage of the source's letters, outside code, in sentences that the translation
    repeats. untranslated_pct: percentage of texts, with letters outside code, that equal their source.

    Raises:
        PolyrewardError: a translated row has no source.
    """
    by_id = {row["id"]: row for row in source}
    if any(row["id"] not in by_id for row in translated):
        raise PolyrewardError("untranslated: some translated ids have no source; translate again")
    records = [
        (row.get("category") or ALL, *letters_left(before, after), before == after)
        for row in translated
        for role in roles_of(row)
        for before, after in zip(contents(by_id[row["id"]][role]), contents(row[role]), strict=True)
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


def letters_left(source: str, target: str) -> tuple[int, int]:
    """Return the letters of a source's sentences outside code, and of those that the target repeats."""
    units = [(unit, sum(map(str.isalpha, unit))) for unit in prose_units(source)]
    return sum(letters for _, letters in units), sum(letters for unit, letters in units if unit in target)


def main(snakemake):
    sources = {Path(path).parent.name: read_jsonl(path) for path in snakemake.input.source}
    tables = [
        untranslated_rows(
            sources[path.parent.name], read_jsonl(path), rows=path.parent.name, language=path.stem
        )
        for path in map(Path, snakemake.input.translated)
    ]
    write_table(pd.concat(tables), snakemake.output[0], UNTRANSLATED_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
