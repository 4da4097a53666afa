"""Table 1's rows, and the columns of the comparisons that artifacts are made of."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from polyreward.analysis.accuracies import Accuracies, in_all_languages, split_cases
from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, transfer_rows
from polyreward.analysis.verdicts import from_draws
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import UNTRAINED, of_base
from polyreward.core.sheet import half_right

SECTIONS = ["chat", "chat_hard", "safety", "reasoning"]
VALUES = [*SECTIONS, "avg"]
# As Comparison.contrast gives it
ESTIMATE = [*(f"{name}{end}" for name in VALUES for end in ("", "_low", "_high")), "n_pairs", "n_templates"]
OVER_SEEDS = ["n_seeds", "avg_sd", "avg_se", "avg_se_trainings"]
TRANSFER_COLUMNS = [
    *("base_model", "eval_language", "rm_training"),
    *ESTIMATE,
    "p_mcnemar",
    *OVER_SEEDS,
    "p_seeds",
    *("hard", "hard_low", "hard_high", "n_hard"),
]
# missing: why a row is empty
LANGUAGE_COLUMNS = [
    *("eval_language", "reward_model", "base_model", "rm_training"),
    *ESTIMATE,
    *OVER_SEEDS,
    "missing",
]
GAP_COLUMNS = [
    *("base_model", "eval_language", "source_pct", "language_pct"),
    *("gap_points", "low", "high", "n_templates", "n_seeds"),
]
# quantity: accuracy, or what is lost from the source language (gap); baseline: one of UNTRAINED
ADDED_COLUMNS = [
    *("base_model", "eval_language", "rm_training", "quantity", "baseline", "rm_value", "baseline_value"),
    *("added_points", "low", "high", "n_templates", "n_seeds"),
]
DIFFERENCE_COLUMNS = [
    *("base_model", "eval_language", "rm_training", "first", "second"),
    *("avg", "avg_low", "avg_high", "n_templates"),
]
READY_MADE_COLUMNS = ["reward_model", "kind", "eval_language", *ESTIMATE, "missing"]


def transfer_table(
    scores: pd.DataFrame,
    sheet: pd.DataFrame,
    source: str,
    benchmark: Benchmark,
    interval: Interval,
    hard: Collection[str] = (),
) -> pd.DataFrame:
    """Compare the source language's reward models with each target language's own, on that language.

    scores: of reward models that are trained here, in every target language. sheet: says which of them
    these are. hard: ids of pairs whose rejected answer is a plausible error. The column `hard` has the
    accuracy on them, all sections together; it is not a part of the average."""
    records = []
    for language, of_language in scores[scores["language"] != source].groupby("language", sort=False):
        tables = dict(iter(of_language.groupby("scorer", sort=False)))
        for base in sheet.loc[list(tables), "base"].unique():
            target, english = (
                _trainings(sheet.loc[list(tables)], base, training) for training in (language, source)
            )
            if not target or len(target) != len(english):
                raise PolyrewardError(
                    f"{base} in {language}: scored are {', '.join(target) or 'no models'} of {language}, and"
                    f" {', '.join(english) or 'no models'} of {source}; score the same seeds of both"
                )
            compared = pd.concat([tables[name] for name in (*target, *english)])
            comparison = Comparison(compared, benchmark, interval)
            rows = transfer_rows(comparison, target, english, base_model=base, eval_language=language)
            of_hard = _of_hard(compared[compared["id"].isin(hard)], benchmark, interval, target, english)
            records += [row | more for row, more in zip(rows, of_hard, strict=True)]
    table = pd.DataFrame(records).reindex(columns=TRANSFER_COLUMNS)
    table = table.astype({"n_hard": "Int64"})
    bases = list(table["base_model"].drop_duplicates())
    return table.sort_values("base_model", key=lambda names: names.map(bases.index), kind="stable")


def seed_differences(
    scores: pd.DataFrame, sheet: pd.DataFrame, benchmark: Benchmark, interval: Interval
) -> pd.DataFrame:
    """Return how two trainings of one model differ, for each two seeds: a control without an effect.

    Intervals are those of one training: they do not cover how trainings vary. So the share of them that
    exclude zero is how often a comparison of single trainings finds what is not there. A model with one
    training has a row without a difference."""
    records = []
    for language, of_language in scores.groupby("language", sort=False):
        comparison = Comparison(of_language, benchmark, interval)
        own = sheet.loc[comparison.scorers].sort_values("seed", kind="stable")
        for (base, training), models in own.groupby(["base", "trained_in"], sort=False):
            key = {"base_model": base, "eval_language": language, "rm_training": training}
            if len(models) == 1:
                records.append(key | {"first": models["seed"].iloc[0]} | comparison.sizes())
            for first, second in combinations(models.index, 2):
                row = comparison.contrast({first: 1.0, second: -1.0})
                seeds = {"first": models.at[first, "seed"], "second": models.at[second, "seed"]}
                records.append(key | seeds | row)
    return pd.DataFrame(records).reindex(columns=DIFFERENCE_COLUMNS).astype({"second": "Int64"})


def hard_pairs(rows: Iterable[dict]) -> list[str]:
    """Return the ids of pairs whose rejected answer was written as a plausible error."""
    return [row["id"] for row in rows if row.get("kind") == "written"]


def _of_hard(
    scores: pd.DataFrame,
    benchmark: Benchmark,
    interval: Interval,
    target: Sequence[str],
    english: Sequence[str],
) -> list[dict]:
    """Return the columns of hard pairs for Table 1's three rows; empty ones without such pairs."""
    if scores.empty:
        return [{}] * 3
    whole = Benchmark(benchmark.name, {"hard": list(scores["subset"].unique())}, {})
    rows = transfer_rows(Comparison(scores, whole, interval), target, english)
    ends = ("hard", "hard_low", "hard_high")
    return [{name: row[name] for name in ends} | {"n_hard": row["n_pairs"]} for row in rows]


def transfer_gaps(
    scores: pd.DataFrame,
    sheet: pd.DataFrame,
    bases: Sequence[str],
    languages: Sequence[str],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return the transfer gap of each base and language, and how two bases differ in it.

    The gap is the average over sections in the source language minus the one in another, of the reward model
    that was trained in the source language. Both have the same templates, so that intervals are paired; of
    several trainings the mean, and their variance is in the interval. Pairs that a language lacks are left
    out.

    languages: the source language first."""
    source, *others = languages
    own = sheet.loc[sorted(scores["scorer"].unique())]
    trainings = {(base, source): list(own.index[own["base"] == base]) for base in bases}
    accuracies = Accuracies(in_all_languages(scores), trainings, benchmark, interval)
    of = {
        (base, language): accuracies.training_draws(base, source, language, "avg")
        for base in bases
        for language in languages
    }
    gaps = {key: of[key[0], source] - values for key, values in of.items() if key[1] != source}
    for first, second in combinations(bases, 2):
        gaps |= {
            (f"{first} - {second}", language): gaps[first, language] - gaps[second, language]
            for language in others
        }
    means, each = split_cases(np.stack(list(gaps.values()), axis=1), accuracies.n_seeds)
    compared = from_draws(means, accuracies.freedom, each)
    low, high = compared.ends(interval.confidence)
    table = pd.DataFrame(list(gaps), columns=["base_model", "eval_language"]).assign(
        gap_points=compared.points, low=low, high=high
    )
    for name, language in (("source_pct", source), ("language_pct", None)):
        table[name] = [of[base, language or own][0, 0] if (base, own) in of else np.nan for base, own in gaps]
    return table.assign(n_templates=accuracies.n_templates, n_seeds=accuracies.n_seeds)[GAP_COLUMNS]


def training_added(
    scores: pd.DataFrame,
    sheet: pd.DataFrame,
    bases: Sequence[str],
    languages: Sequence[str],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return what training adds: reward models minus their untrained base's probe, and minus its PMI.

    Accuracies are averages over sections, of the source language's reward models and of each language's own.
    The gap is what the source language's lose in another language; a positive difference means that they
    lose more than the base. Intervals are paired over templates, with the variance between trainings.

    sheet: of all scorers. languages: the source language first."""
    source, *others = languages
    own = sheet.loc[sorted(scores["scorer"].unique())]
    trainings = {
        (base, training): _trainings(own, base, training) for base in bases for training in languages
    }
    accuracies = Accuracies(in_all_languages(scores), trainings, benchmark, interval, half_right(own))

    def of_model(base: str, training: str, language: str) -> np.ndarray:
        return accuracies.training_draws(base, training, language, "avg")

    def of_baseline(kind: str, base: str, language: str) -> np.ndarray:
        return accuracies.draws(of_base(kind, base), language, "avg")[:, None]

    keys, pairs = [], []
    for base, kind, language in product(bases, UNTRAINED, languages):
        for training in dict.fromkeys((source, language)):
            keys.append((base, language, training, "accuracy", kind))
            pairs.append((of_model(base, training, language), of_baseline(kind, base, language)))
    for base, kind, language in product(bases, UNTRAINED, others):
        keys.append((base, language, source, "gap", kind))
        lost = of_model(base, source, source) - of_model(base, source, language)
        pairs.append((lost, of_baseline(kind, base, source) - of_baseline(kind, base, language)))
    means, each = split_cases(np.stack([ours - base for ours, base in pairs], axis=1), accuracies.n_seeds)
    compared = from_draws(means, accuracies.freedom, each)
    low, high = compared.ends(interval.confidence)
    return pd.DataFrame(keys, columns=ADDED_COLUMNS[:5]).assign(
        rm_value=[ours[0, 0] for ours, _ in pairs],
        baseline_value=[base[0, 0] for _, base in pairs],
        added_points=compared.points,
        low=low,
        high=high,
        n_templates=accuracies.n_templates,
        n_seeds=accuracies.n_seeds,
    )[ADDED_COLUMNS]


def _trainings(sheet: pd.DataFrame, base: str, training: str) -> list[str]:
    """Return the reward models of a base and a training language, by seed."""
    own = sheet[(sheet["base"] == base) & (sheet["trained_in"] == training)]
    return list(own.sort_values("seed").index)
