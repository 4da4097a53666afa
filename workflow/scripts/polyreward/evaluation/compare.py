"""Compare models by how right they are on the same items: levels, differences, ranks and what is open."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, Estimate, exact_mcnemar, mean_of
from polyreward.analysis.power import errors_to_decide
from polyreward.analysis.verdicts import WIDTH
from polyreward.carb.leaderboard import rank_intervals
from polyreward.core.errors import PolyrewardError, raise_all, unknown_name
from polyreward.evaluation.tables import INTERVAL
from polyreward.sheet.catalogs import FILES, read_checked

OVERALL, SECTION, SUBSET = "overall", "section", "subset"
LEVELS = (OVERALL, SECTION, SUBSET)  # where pairs of models are compared: also on all before it
EACH_SUBSET = "each-subset"  # instead of a benchmark's name: the plain mean of the subsets
ALL_ITEMS, MEAN_OF_SECTIONS, MEAN_OF_SUBSETS = "all items", "mean of sections", "mean of subsets"
MCNEMAR, STUDENT = "McNemar", "t"

MODEL_COLUMNS = [
    *("model", "accuracy_pct", "low", "high", "rank", "rank_low", "rank_high", "group", "n_trainings"),
    *("sd_trainings", "se_items", "se_trainings", "tied_pct", "n_items", "n_clusters"),
]
PART_COLUMNS = ["level", "part", "model", "accuracy_pct", "low", "high", "n_items", "n_clusters"]
PAIR_COLUMNS = [
    *("level", "part", "model", "against", "difference", "low", "high", "wins", "losses", "test"),
    *("p", "p_holm", "apart", "items_needed"),
]


class Found(NamedTuple):
    """What was compared.

    models: MODEL_COLUMNS, the best first. parts: PART_COLUMNS, accuracies of each model. pairs: PAIR_COLUMNS.
    Accuracies, differences and standard errors are in percent and percentage points. score: what the accuracy
    of a model is. missing: subsets of the benchmark without items."""

    models: pd.DataFrame
    parts: pd.DataFrame
    pairs: pd.DataFrame
    score: str
    missing: list[str]


def sections_of(name: str | None, root: Path) -> Benchmark | str | None:
    """Return a benchmark of the catalog in the project's folder `root`, by its name; None and EACH_SUBSET as
    they are."""
    if name in (None, EACH_SUBSET):
        return name
    catalog = read_checked(root / FILES["benchmarks"])
    if name not in catalog:
        raise PolyrewardError(
            f"--sections: {unknown_name(name, [*catalog, EACH_SUBSET], FILES['benchmarks'])}"
        )
    return Benchmark(name, catalog[name]["sections"], catalog[name]["weights"])


def compare(
    scores: pd.DataFrame,
    benchmark: Benchmark | str | None = None,
    trainings: Mapping[str, str] | None = None,
    level: str = OVERALL,
    interval: Interval = INTERVAL,
) -> Found:
    """Compare the models of score_files.read_score_files on all items, sections and subsets.

    A model's accuracy is the plain mean of the benchmark's sections, or without one the mean over all items.
    Intervals are of each number by itself, over clusters. p_holm corrects for all pairs in the table.
    Two models are apart where it is at most 0.05 and the interval excludes zero on the same side.

    Args:
        benchmark: its sections and weights; EACH_SUBSET; or None.
        trainings: {model: patterns of the names of its trainings, joined by commas}.
        level: one of LEVELS, to which pairs of models are compared.

    Raises:
        PolyrewardError: names what does not fit.
    """
    subsets = sorted(scores["subset"].unique())
    models = _models(list(scores["scorer"].unique()), trainings or {})
    whole, places, missing = _places(scores, benchmark, subsets, interval)
    several = list(models.values())
    estimates = {name: whole.estimates(mean_of(names), several) for name, names in models.items()}
    models = {name: models[name] for name in sorted(models, key=lambda one: -estimates[one]["avg"].value)}
    compared = [place for place in places if LEVELS.index(place.level) <= LEVELS.index(level)]
    differences = _differences(whole, models)
    pairs = _pairs(whole, compared, models, differences, interval.confidence)
    tied = scores.groupby("scorer")["tied"].mean()
    overall = {name: estimates[name]["avg"] for name in models}
    found = _ranked(whole, models, overall, differences, interval.confidence)
    found = found.assign(
        group=_groups(list(models), pairs),
        tied_pct=[100 * float(np.mean([tied[name] for name in names])) for names in models.values()],
        **_sizes(whole, subsets),
    )
    return Found(
        found[MODEL_COLUMNS],
        _parts(whole, places, {name: estimates[name] for name in models}),
        pairs,
        places[0].part,
        missing,
    )


class Place(NamedTuple):
    """Where models are compared.

    part: its name. key: of its estimate in the comparison."""

    level: str
    part: str
    key: str
    subsets: Sequence[str]


def _places(
    scores: pd.DataFrame, benchmark: Benchmark | str | None, subsets: Sequence[str], interval: Interval
) -> tuple[Comparison, list[Place], list[str]]:
    """Return a comparison, its places, and which subsets of the benchmark have no item."""
    each, missing = {f"subset {one}": [one] for one in subsets}, []  # a section may have a subset's name
    if isinstance(benchmark, Benchmark):
        missing = _check_subsets(benchmark, subsets)
        score = MEAN_OF_SECTIONS
    elif benchmark == EACH_SUBSET:
        score, benchmark = MEAN_OF_SUBSETS, Benchmark("items", each, {})
    else:
        score, benchmark = ALL_ITEMS, Benchmark("items", {ALL_ITEMS: list(subsets)}, {})
    table = scores.assign(benchmark=benchmark.name, language="")
    whole = Comparison(table, benchmark, interval, parts=each)
    places = [Place(OVERALL, score, "avg", subsets)]
    if score == MEAN_OF_SECTIONS:
        places += [Place(SECTION, key, key, of) for key, of in whole.benchmark.sections.items()]
    if len(subsets) > 1:
        places += [Place(SUBSET, of[0], key, of) for key, of in each.items()]
    return whole, places, missing


def _sizes(whole: Comparison, subsets: Sequence[str]) -> dict[str, int]:
    items = whole.rows[whole.rows["subset"].isin(subsets)]
    return {"n_items": len(items), "n_clusters": items["template"].nunique()}


def _models(scorers: Sequence[str], trainings: Mapping[str, str]) -> dict[str, list[str]]:
    """Return {model: its trainings}; a scorer that no pattern names is a model of one training."""
    found: dict[str, list[str]] = {}
    problems, owner = [], {}
    for model, patterns in trainings.items():
        for pattern in patterns.split(","):
            named = [one for one in scorers if fnmatchcase(one, pattern)]
            if not named:
                problems.append(f"--seeds {model}: {unknown_name(pattern, scorers, 'what was read')}")
            for one in named:
                if owner.setdefault(one, model) != model:
                    problems.append(
                        f"--seeds: `{one}` is a training of {owner[one]} and of {model}; keep one"
                    )
                elif one not in found.setdefault(model, []):
                    found[model].append(one)
    problems += [
        f"--seeds: {model} is also the name of another model in the files; choose another name"
        for model in trainings
        if model in scorers and model not in found.get(model, [])
    ]
    raise_all(problems, "compare")
    return {owner.get(one, one): found.get(owner.get(one, one), [one]) for one in scorers}


def _check_subsets(benchmark: Benchmark, subsets: Sequence[str]) -> list[str]:
    """Return subsets of a benchmark that have no item.

    Raises:
        PolyrewardError: a whole section or a weighted subset has none, or there are other subsets.
    """
    known = [subset for members in benchmark.sections.values() for subset in members]
    problems = [
        f"--sections {benchmark.name}: subset {unknown_name(one, known, 'it')}. Take its items out, or leave"
        " --sections out"
        for one in subsets
        if one not in known
    ]
    missing = [one for one in known if one not in subsets]
    needed = {
        section: members for section, members in benchmark.sections.items() if set(members) <= {*missing}
    }
    needed |= {
        one: [one] for one in benchmark.weights if one in missing and one not in sum(needed.values(), [])
    }
    problems += [
        f"--sections {benchmark.name}: no item of {name} ({', '.join(members)}); score them, or leave"
        " --sections out"
        for name, members in needed.items()
    ]
    raise_all(problems, "compare")
    return missing


def _in_percent(estimate: Estimate, name: str) -> dict[str, float]:
    return {name: 100 * estimate.value, "low": 100 * estimate.low, "high": 100 * estimate.high}


def _parts(
    whole: Comparison, places: Sequence[Place], estimates: Mapping[str, Mapping[str, Estimate]]
) -> pd.DataFrame:
    """Return each model's accuracy in each place."""
    sizes = [_sizes(whole, place.subsets) for place in places]
    rows = [
        {"level": place.level, "part": place.part, "model": model}
        | _in_percent(estimates[model][place.key], "accuracy_pct")
        | size
        for place, size in zip(places, sizes, strict=True)
        for model in estimates
    ]
    return pd.DataFrame(rows)[PART_COLUMNS]


def _differences(whole: Comparison, models: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], dict]:
    """Return the estimates of each pair's difference, the better model first."""
    found = {}
    for pair in combinations(models, 2):
        first, second = (models[name] for name in pair)
        weights = mean_of(first) | {name: -share for name, share in mean_of(second).items()}
        found[pair] = whole.estimates(weights, [first, second])
    return found


def _pairs(
    whole: Comparison,
    places: Sequence[Place],
    models: Mapping[str, Sequence[str]],
    differences: Mapping[tuple[str, str], Mapping[str, Estimate]],
    confidence: float,
) -> pd.DataFrame:
    """Return every pair of models in each place."""
    rows, needed = [], []
    family = len(places) * len(differences)
    for place in places:
        n_items = _sizes(whole, place.subsets)["n_items"]
        for (first, second), found in differences.items():
            estimate = found[place.key]
            row = {"level": place.level, "part": place.part, "model": first, "against": second}
            row |= _in_percent(estimate, "difference")
            rows.append(row | _test(whole, place.subsets, models[first], models[second], estimate))
            needed.append(items_needed(estimate, n_items, 1 - (1 - confidence) / family))
    if not rows:
        return pd.DataFrame(columns=PAIR_COLUMNS)
    table = pd.DataFrame(rows)
    p_holm = multipletests(table["p"], method="holm")[1]
    outside = (table["low"] > 0) | (table["high"] < 0)
    wins = (table["wins"] - table["losses"]).fillna(table["difference"])
    apart = (p_holm <= 1 - confidence) & outside & (np.sign(wins) == np.sign(table["difference"]))
    table = table.assign(p_holm=p_holm, apart=apart, items_needed=np.where(apart, np.nan, needed))
    return table[PAIR_COLUMNS].astype(dict.fromkeys(("wins", "losses", "items_needed"), "Int64"))


def _test(
    whole: Comparison,
    subsets: Sequence[str],
    first: Sequence[str],
    second: Sequence[str],
    estimate: Estimate,
) -> dict:
    """Return p of no difference by McNemar's exact test over clusters, or by Student's where a model has
    several trainings."""
    if len(first) == len(second) == 1:
        wins, losses = whole.wins(*first, *second, subsets)
        p = exact_mcnemar(wins, losses)
        return {"wins": wins, "losses": losses, "test": MCNEMAR, "p": p}
    error, p = np.sqrt(estimate.variance), 1.0
    if error > WIDTH and estimate.freedom >= 1:
        p = 2 * float(student.sf(abs(estimate.value) / error, estimate.freedom))
    return {"wins": np.nan, "losses": np.nan, "test": STUDENT, "p": p}


def items_needed(estimate: Estimate, n_items: int, confidence: float) -> float:
    """Return how many items would decide a difference of this size with a probability of 80%.

    More items like these, in as large clusters, with the same trainings. NaN where no number would, or where
    there are as many already."""
    freedom = max(round(estimate.freedom), 1) if estimate.of_trainings else np.inf
    square = errors_to_decide(confidence, float(freedom)) ** 2
    left = estimate.value**2 - square * estimate.of_trainings
    if left <= WIDTH:
        return np.nan
    needed = n_items * square * (estimate.variance - estimate.of_trainings) / left
    return ceil(needed) if needed > n_items else np.nan


def _ranked(
    of: Comparison,
    models: Mapping[str, Sequence[str]],
    overall: Mapping[str, Estimate],
    differences: Mapping[tuple[str, str], Mapping[str, Estimate]],
    confidence: float,
) -> pd.DataFrame:
    """Return accuracies, ranks and the spread of trainings, a row for each model."""
    draws = of.values[..., : len(of.benchmark.sections)].mean(axis=2)
    means = [draws[:, [of.scorers.index(name) for name in names]].mean(axis=1) for names in models.values()]
    added = np.array([one.of_trainings for one in overall.values()])
    freedom = np.full((len(models), len(models)), float(of.freedoms["avg"]))
    for (one, other), place in zip(differences, combinations(range(len(models)), 2), strict=True):
        freedom[place] = freedom[place[::-1]] = differences[one, other]["avg"].freedom
    low, high = rank_intervals(np.stack(means, axis=1), confidence, freedom, added)
    points = np.array([one.value for one in overall.values()]).round(9)
    table = pd.DataFrame(
        [{"model": name, **_in_percent(one, "accuracy_pct")} for name, one in overall.items()]
    )
    return table.assign(
        rank=1 + (points[None] > points[:, None]).sum(axis=1),
        rank_low=low,
        rank_high=high,
        n_trainings=[len(names) for names in models.values()],
        sd_trainings=[of.spread(names) for names in models.values()],
        se_items=[100 * np.sqrt(one.variance - one.of_trainings) for one in overall.values()],
        se_trainings=[
            100 * np.sqrt(one.of_trainings) if len(models[name]) > 1 else np.nan
            for name, one in overall.items()
        ],
    )


def _groups(order: Sequence[str], pairs: pd.DataFrame) -> list[str]:
    """Return each model's groups, as letters: two models that share a letter are not apart overall.

    Source: Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons, Journal
    of Computational and Graphical Statistics 13."""
    groups = [frozenset(order)]
    decided = pairs[(pairs["level"] == OVERALL) & pairs["apart"].astype(bool)]
    for pair in map(set, zip(decided["model"], decided["against"], strict=True)):
        parts = {
            part for one in groups for part in ([one - {name} for name in pair] if pair <= one else [one])
        }
        groups = [one for one in parts if not any(one < other for other in parts)]
    groups.sort(key=lambda one: sorted(map(order.index, one)))
    return [" ".join(_letter(n) for n, one in enumerate(groups) if name in one) for name in order]


def _letter(number: int) -> str:
    """Return a to z, then aa, ab and so on."""
    before, own = divmod(number, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + own)
