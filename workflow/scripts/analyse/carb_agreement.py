"""Measure how consistent each reward model is over each pair of languages."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from polyreward.carb.leaderboard import by_scorer, check_same_items, in_all
from polyreward.carb.perturbation.sensitivity import PAIR_COLUMNS, spread
from polyreward.core.files import read_jsonl
from polyreward.core.sheet import kinds, read_sheet
from polyreward.core.tables import scorers_of, write_exact
from polyreward.ops.jobs import run


def item_consistency(
    scores: pd.DataFrame, languages: Mapping[str, Sequence[str]], order: Sequence[str], unit: float, k: float
) -> pd.DataFrame:
    """Return exp(-k |difference| / unit) of each item's two scores for every pair of languages: ids by pairs.

    languages: {item: the language of each answer}. unit: the scorer's `spread`; all is nan where it is 0."""
    spoken = [
        languages[id_][candidate] for id_, candidate in zip(scores["id"], scores["candidate"], strict=True)
    ]
    wide = scores.assign(spoken=spoken).pivot(index="id", columns="spoken", values="score") / (unit or np.nan)
    wide = wide.reindex(scores["id"].unique(), columns=order)
    pairs = list(combinations(order, 2))
    found = [np.exp(-k * (wide[one] - wide[two]).abs()) for one, two in pairs]
    return pd.concat(found, axis=1).set_axis(pd.MultiIndex.from_tuples(pairs), axis=1)


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
        units = (spread(benchmark[name]), 1.0)
        found, raw = (item_consistency(table, languages, order, unit, k).mean() for unit in units)
        count = table["id"].nunique()
        rows += ((name, kinds[name], *pair, mean, raw[pair], count) for pair, mean in found.items())
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    order, names = params.languages, scorers_of(files.scores)
    scores, benchmark = in_all(
        by_scorer(files.scores, names, "carb_consistency", order),
        by_scorer(files.benchmark, names, "carb", order),
    )
    languages = {row["id"]: row["languages"] for row in read_jsonl(files.item_files)}
    pairs = pair_table(scores, benchmark, kinds(read_sheet(files.sheet), names), languages, order, params.k)
    write_exact(pairs, snakemake.output[0], PAIR_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
