"""Measure how consistent each reward model is over languages, and over each pair of them."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval, student_interval
from polyreward.carb.leaderboard import by_scorer, in_all
from polyreward.carb.perturbation.sensitivity import (
    CHANCE,
    CONSISTENCY_COLUMNS,
    NO_SPREAD,
    PAIR_COLUMNS,
    PARTS,
    check_same_items,
    resampled_means,
    spread,
)
from polyreward.core.files import read_jsonl
from polyreward.core.seeds import job_seed
from polyreward.core.tables import write_exact
from polyreward.ops.jobs import run

NO_VERSIONS = "not tested: no item of carb.item_files brings `versions` in all languages"


def item_consistency(
    scores: pd.DataFrame, languages: Mapping[str, Sequence[str]], order: Sequence[str], unit: float, k: float
) -> pd.DataFrame:
    """Return exp(-k |difference| / unit) of each item's two scores for every pair of languages: ids by pairs.

    Args:
        scores: item_scores' rows of answers in several languages.
        languages: {item: of its answers in turn, the prompt's first}.
        order: of the languages, which names a pair.
        unit: the scorer's `sensitivity.spread`; all is nan where it is 0.
    """
    if scores.empty:
        return pd.DataFrame(columns=pd.MultiIndex.from_tuples(combinations(order, 2)), dtype=float)
    found = {}
    for name, rows in scores.sort_values("candidate").groupby("id", sort=False):
        values = dict(zip(languages[name], rows["score"] / (unit or np.nan), strict=True))
        found[name] = {
            (one, two): np.exp(-k * abs(values[one] - values[two])) for one, two in combinations(order, 2)
        }
    return pd.DataFrame.from_dict(found, orient="index")


def all_consistencies(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    languages: Mapping[str, Sequence[str]],
    order: Sequence[str],
    k: float,
) -> dict[str, pd.DataFrame]:
    """Return {scorer: item_consistency}; the spread of its scores of the benchmark is the unit.

    Raises:
        PolyrewardError: two scorers' items differ.
    """
    check_same_items(scores)
    return {
        name: item_consistency(table, languages, order, spread(benchmark[name]), k)
        for name, table in scores.items()
    }


def chance_consistency(
    benchmark: Mapping[str, pd.DataFrame], items: Sequence[str], order: Sequence[str], k: float, seed: int
) -> pd.DataFrame:
    """Return item_consistency of two different answers to a question, as the mean over scorers: ids by pairs.

    The answers are drawn for each pair of languages. Normal scores have 0.43 at k = 1. Scorers whose answers
    all have the same score are left out; all is nan where none is left.

    Args:
        benchmark: {scorer: its scores of the benchmark}.
    """
    pairs, found = list(combinations(order, 2)), []
    for name, table in benchmark.items():
        answers = table.pivot(index="id", columns="candidate", values="score").loc[list(items)]
        generator = np.random.default_rng(job_seed(seed, "chance", "consistency", name))
        dealt = np.stack([generator.permuted(answers, axis=1)[:, :2] for _ in pairs], axis=1)
        if unit := spread(table):
            found.append(np.exp(-k * np.abs(dealt[..., 0] - dealt[..., 1]) / unit))
    mean = np.mean(found, axis=0) if found else np.full((len(items), len(pairs)), np.nan)
    return pd.DataFrame(mean, list(items), pd.MultiIndex.from_tuples(pairs))


def pair_table(consistencies: Mapping[str, pd.DataFrame], kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return the mean over items for each scorer and pair of languages (PAIR_COLUMNS)."""
    rows = [
        (name, kinds[name], *pair, mean, len(table))
        for name, table in consistencies.items()
        for pair, mean in table.mean().items()
    ]
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)


def consistency_table(
    consistencies: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    languages: Mapping[str, Sequence[str]],
    interval: Interval,
) -> pd.DataFrame:
    """Return a row for each scorer (CONSISTENCY_COLUMNS), the most consistent first, chance last.

    consistency: the mean over all pairs of languages and items. own: over the pairs with the prompt's
    language; others: over those without it. lowest_pair: the least consistent two languages. Intervals are by
    bootstrap over topics, with the same draws for all scorers. Without items all numbers are empty, and note
    says so."""
    rows = []
    for name, table in consistencies.items():
        row = {"scorer": name, "kind": kinds[name], "n_pairs": table.shape[1], "n_items": len(table)}
        if table.empty:
            rows.append({**row, "lowest_pair": "", "note": NO_VERSIONS})
            continue
        with_own = np.array([[languages[item][0] in pair for pair in table.columns] for item in table.index])
        parts = [table, table.where(with_own), table.where(~with_own)]
        values = np.column_stack([part.mean(axis=1) for part in parts])
        topics = [
            item.rpartition("_")[0] or item for item in table.index
        ]  # an item's id is <topic>_<culture>
        draws = np.vstack(
            [values.mean(axis=0), resampled_means(values, topics, interval, "carb_consistency")]
        )
        ends = np.clip(student_interval(draws, interval.confidence, len(set(topics)) - 1), 0, 1)
        for part, *estimate in zip(PARTS, draws[0], *ends, strict=True):
            row |= dict(zip((part, f"{part}_low", f"{part}_high"), estimate, strict=True))
        means = table.mean()
        known = means.notna().all()
        lowest = "-".join(means.idxmin()) if known else ""
        row |= {
            "lowest_pair": lowest,
            "lowest": means.min() if known else np.nan,
            "note": "" if known else NO_SPREAD,
        }
        rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=CONSISTENCY_COLUMNS)
    table = table.sort_values("consistency", ascending=False, kind="stable")
    return table.sort_values("kind", key=lambda kind: kind == "chance", kind="stable").reset_index(drop=True)


def agreement_tables(
    scores: Mapping[str, pd.DataFrame],
    benchmark: Mapping[str, pd.DataFrame],
    kinds: Mapping[str, str],
    languages: Mapping[str, Sequence[str]],
    order: Sequence[str],
    k: float,
    interval: Interval,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what the figure plots, and the table, with chance in the row CHANCE."""
    found = all_consistencies(scores, benchmark, languages, order, k)
    chance = chance_consistency(benchmark, next(iter(found.values())).index, order, k, interval.seed)
    table = consistency_table({**found, CHANCE: chance}, {**kinds, CHANCE: "chance"}, languages, interval)
    return pair_table(found, kinds), table


def main(snakemake):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    order, names = params.languages, list(params.kinds)
    scores, benchmark = in_all(
        by_scorer(files.scores, names, "carb_consistency", order),
        by_scorer(files.benchmark, names, "carb", order),
    )
    rows = (row for path in files.item_files for row in read_jsonl(path))
    languages = {row["id"]: row["languages"] for row in rows}
    interval = Interval(**params.interval)
    pairs, table = agreement_tables(scores, benchmark, params.kinds, languages, order, params.k, interval)
    write_exact(pairs, output.pairs, PAIR_COLUMNS)
    write_exact(table, output.table, CONSISTENCY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
