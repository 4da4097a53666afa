"""Parts of data that are drawn by hash: the same part wherever the same rows are."""

from collections import Counter
from collections.abc import Sequence

from polyreward.core.seeds import job_seed


def drawn(rows: Sequence[dict], key: Sequence[str], count: int | None, seed: int, *purpose: str) -> list[dict]:
    """Return at most `count` rows of each group, by the hashes of their ids, in the rows' order; all of them for None.

    key: the columns that make a group. Files with the same ids give the same ones, and a smaller count a part of a larger
    one's. purpose: names the draw, so that two of the same rows are independent."""
    if count is None:
        return list(rows)
    number, kept = Counter(), set()
    for row in sorted(rows, key=lambda row: job_seed(seed, *purpose, row["id"])):
        group = tuple(row[column] for column in key)
        number[group] += 1
        if number[group] <= count:
            kept.add(row["id"])
    return [row for row in rows if row["id"] in kept]
