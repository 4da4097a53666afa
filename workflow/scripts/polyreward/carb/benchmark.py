"""The one way into the benchmark: items built from references, or items of the user's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from polyreward.carb.items.filters import Filters, foreign, kept_items
from polyreward.carb.items.holdout import parted
from polyreward.carb.items.item_files import Expected, read_item_files
from polyreward.carb.items.selection import SELECTION_COLUMNS, checked_items, finished_items, selection_counts
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores

ByCulture = dict[str, list[dict]]


def benchmark_items(
    files: Mapping[str, str | Sequence[str]],
    names: Mapping[str, str],
    scripts: Mapping[str, str],
    domains: Sequence[str],
    filters: Mapping[str, float],
    training_share: float,
    items_per_cell: int | None,
    seed: int,
) -> tuple[ByCulture, pd.DataFrame]:
    """Return ({culture: the benchmark's items}, counts with SELECTION_COLUMNS).

    files: {"given": files of items}, or else {"references", "possible", "similarities"}. names, scripts:
    {culture: its language's English name, ISO 15924 script}. filters: the arguments of Filters. Errors as in
    read_item_files and checked_items."""
    if "given" in files:
        expected = Expected(names, scripts, domains)
        return given_items(
            read_item_files(files["given"], expected), expected, Filters(**filters), items_per_cell, seed
        )
    read = [read_jsonl(files[name]) for name in ("references", "possible")]
    references, items = parted(*read, training_share, seed, training=False)
    kept, counts = kept_items(
        items, references, read_scores(files["similarities"]), scripts, Filters(**filters)
    )
    by_culture = checked_items(kept, counts, references, list(names), domains, seed, items_per_cell)
    return by_culture, pd.DataFrame(selection_counts(counts, chain(*by_culture.values())))[SELECTION_COLUMNS]


def given_items(
    items: Sequence[dict], expected: Expected, filters: Filters, items_per_cell: int | None, seed: int
) -> tuple[ByCulture, pd.DataFrame]:
    """Return items of item_files as the benchmark has them, with all else that they bring, and counts.

    Nothing is filtered: answers_foreign counts answers that filters.script_share would remove, and what
    cannot be counted is empty."""
    more = {item["id"]: item["more"] for item in items}
    finished = [{**more[item["id"]], **item} for item in finished_items(items, seed, items_per_cell)]
    there, drawn, odd = (Counter() for _ in range(3))
    for item in items:
        cell, texts = (
            (item["culture"], item["domain"]),
            [item["chosen"]["text"], *(a["text"] for a in item["answers"])],
        )
        there[cell] += 1
        odd[cell] += sum(
            foreign(text, expected.scripts[item["culture"]], filters.script_share) for text in texts
        )
    drawn.update((item["culture"], item["domain"]) for item in finished)
    rows = [
        {
            "culture": cell[0],
            "domain": cell[1],
            "items": count,
            "answers_foreign": odd[cell],
            "items_drawn": drawn[cell],
        }
        for cell, count in there.items()
    ]
    counts = pd.DataFrame(rows).reindex(columns=SELECTION_COLUMNS)
    numbers = dict.fromkeys(SELECTION_COLUMNS[2:], "Int64")
    return {c: [item for item in finished if item["culture"] == c] for c in expected.names}, counts.astype(
        numbers
    )
