"""Measure how consistent each reward model is over each pair of languages."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from polyreward.carb.leaderboard import by_scorer, check_same_items, in_all
from polyreward.carb.perturbation.sensitivity import PAIR_COLUMNS, spread
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_exact
from polyreward.ops.jobs import run


def item_consistency(
    scores: pd.DataFrame, languages: Mapping[str, Sequence[str]], order: Sequence[str], unit: float, k: float
) -> pd.DataFrame:
    """Return exp(-k |difference| / unit) of each item's two scores for every pair of languages: ids by pairs.

    languages: {item: of its answers in turn, the prompt's first}. order: of the languages, which names a
    pair. unit: the scorer's `sensitivity.spread`; all is nan where it is 0."""
    if scores.empty:
        return pd.DataFrame(columns=pd.MultiIndex.from_tuples(combinations(order, 2)), dtype=float)
    found = {}
    for name, rows in scores.sort_values("candidate").groupby("id", sort=False):
        values = dict(zip(languages[name], rows["score"] / (unit or np.nan), strict=True))
        found[name] = {
            (one, two): np.exp(-k * abs(values[one] - values[two])) for one, two in combinations(order, 2)
        }
    return pd.DataFrame.from_dict(found, orient="index")


def pair_table(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    languages: Mapping[str, Sequence[str]],
    order: Sequence[str],
    k: float,
) -> pd.DataFrame:
    """Return PAIR_COLUMNS: the mean over items for each scorer and pair of languages.

    The unit is the spread of a scorer's scores of the benchmark; of consistency_raw, the score as it is."""
    check_same_items(scores)
    rows = []
    for name, table in scores.items():
        found, raw = (
            item_consistency(table, languages, order, unit, k) for unit in (spread(benchmark[name]), 1.0)
        )
        of_raw = raw.mean()
        rows += [
            (name, kinds[name], *pair, mean, of_raw[pair], len(found)) for pair, mean in found.mean().items()
        ]
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    order, names = params.languages, list(params.kinds)
    scores, benchmark = in_all(
        by_scorer(files.scores, names, "carb_consistency", order),
        by_scorer(files.benchmark, names, "carb", order),
    )
    rows = read_jsonl(files.item_files)
    languages = {row["id"]: row["languages"] for row in rows}
    pairs = pair_table(scores, benchmark, params.kinds, languages, order, params.k)
    write_exact(pairs, snakemake.output[0], PAIR_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
