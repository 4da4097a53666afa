"""Draw parts of data by hash, the same part wherever the same rows are."""

from collections import Counter
from collections.abc import Mapping, Sequence

from polyreward.core.seeds import job_seed


def in_draw_order(rows: Sequence[dict], seed: int, *purpose: str) -> list[dict]:
    """Return rows in the order of their ids' hashes, which is the order in which `drawn` takes them."""
    return sorted(rows, key=lambda row: job_seed(seed, *purpose, row["id"]))


def drawn(
    rows: Sequence[dict], key: Sequence[str], count: int | None, seed: int, *purpose: str
) -> list[dict]:
    """Draw at most `count` rows of each group by their ids' hashes; return them in the rows' order.

    A smaller count gives a part of a larger one's draw. key: the columns that make a group. count: None for
    all rows. purpose: names the draw, so that two draws from the same rows are independent."""
    if count is None:
        return list(rows)
    number, kept = Counter(), set()
    for row in in_draw_order(rows, seed, *purpose):
        group = tuple(row[column] for column in key)
        number[group] += 1
        if number[group] <= count:
            kept.add(row["id"])
    return [row for row in rows if row["id"] in kept]


def in_every_language(rows: Mapping[str, Sequence[dict]]) -> dict[str, list[dict]]:
    """Return {language: its rows whose ids are in every language}; one may cover only a part."""
    common = set.intersection(*({row["id"] for row in own} for own in rows.values()))
    return {language: [row for row in own if row["id"] in common] for language, own in rows.items()}
