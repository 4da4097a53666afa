"""How often the intervals of `polyreward compare` include the truth, and how often it finds a difference."""

import gc
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from draws import SEED_SPREAD, TEMPLATE_ICC, chances
from layouts import layout_of

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.evaluation.compare import OVERALL, SECTION, SUBSET, Found, compare

MEAN, SWING = 0.6, 0.15  # of the better model's accuracy over subsets, and how far they are from it
LEADS = (0.0, 0.03, 0.06, 0.12)  # of one model over another on every item; coverage is that at COVERED
COVERED = 0.06
EQUAL = 4  # models without any difference
LAYOUTS = ["each item by itself", "clusters of 1 to 6", "few clusters of 10", "RewardBench"]


class Items(NamedTuple):
    """Items to compare models on. rows: id, subset and template. trainings: numbers of them to simulate."""

    rows: pd.DataFrame
    benchmark: Benchmark | None
    trainings: Sequence[int]

    @property
    def n(self) -> str:
        """How many items and clusters there are."""
        return f"{len(self.rows):,} items, {self.rows['template'].nunique():,} clusters"


def items_of(sizes: Sequence[int], subsets: int, trainings: Sequence[int]) -> Items:
    """Return items in clusters of such sizes, which subsets share out among themselves."""
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    rows = pd.DataFrame({"id": np.arange(len(clusters)).astype(str), "template": clusters.astype(str)})
    return Items(rows.assign(subset=[f"s{n % subsets}" for n in clusters]), None, trainings)


def layouts() -> dict[str, Items]:
    """Return the layouts of LAYOUTS by name."""
    paper = layout_of("paper")
    found = [
        items_of([1] * 400, 4, [3]),
        items_of([1, 2, 3, 4, 5, 6] * 20, 4, [2, 3]),
        items_of([10] * 16, 2, [3]),
        Items(paper.rows, paper.benchmark, []),
    ]
    return dict(zip(LAYOUTS, found, strict=True))


def accuracies(items: Items) -> tuple[np.ndarray, dict[str, float]]:
    """Return the better model's mean of each item, and its true accuracies: overall and in each subset."""
    counts = items.rows["subset"].value_counts()
    of = {name: MEAN + SWING * np.sin(n) for n, name in enumerate(sorted(counts.index))}
    means = items.rows["subset"].map(of).to_numpy()
    if items.benchmark is None:
        return means, {**of, OVERALL: means.mean()}
    sections = {}
    for section, members in items.benchmark.sections.items():
        weights = [items.benchmark.weights.get(name, counts[name]) for name in members]
        sections[section] = np.average([of[name] for name in members], weights=weights)
    return means, {**sections, OVERALL: np.mean(list(sections.values()))}


def compared(
    items: Items, means: np.ndarray, names: Sequence[str], generator: np.random.Generator, **options
) -> Found:
    """Draw answers and compare. means: of each item and scorer."""
    clusters = pd.factorize(items.rows["template"])[0]
    chance = chances(generator, np.clip(means, 0.02, 0.98), TEMPLATE_ICC, clusters)
    right = (generator.random(chance.shape) < chance).astype(float)
    scores = pd.concat(
        items.rows.assign(scorer=name, right=column, tied=False)
        for name, column in zip(names, right.T, strict=True)
    )
    return compare(scores, items.benchmark, **options)


def simulated(items: Items, generator: np.random.Generator, interval: Interval) -> Iterator[dict]:
    """Yield what is known of one sample of each simulation: an interval with its truth, or what was found."""
    means, truth = accuracies(items)
    run = partial(compared, items, generator=generator, interval=interval)
    level = SECTION if items.benchmark else SUBSET
    for lead in LEADS:
        both = np.stack([means, means - lead], axis=1)
        yield _outcome(run(both, ["a", "b"]), "two models", lead)
        if lead == COVERED:
            yield from _held(run(both, ["a", "b"], level=level), truth, lead, "")
    for count in items.trainings:
        for lead in LEADS:
            moved = generator.normal(scale=SEED_SPREAD, size=2 * count)
            each = np.repeat([0.0, lead], count)
            names = [f"{model}{n}" for model in "ab" for n in range(count)]
            found = run(means[:, None] - each + moved, names, trainings={"a": "a*", "b": "b*"})
            if lead == COVERED:
                yield from _held(found, truth, lead, f", {count} trainings")
            yield _outcome(found, f"two models, {count} trainings each", lead)
    equal = run(np.repeat(means[:, None], EQUAL, axis=1), [f"m{n}" for n in range(EQUAL)])
    held = (equal.models["rank_low"] == 1).all() and (equal.models["rank_high"] == EQUAL).all()
    yield {"what": f"all ranks of {EQUAL} equal models", "held": held}
    yield _outcome(equal, f"any of {len(equal.pairs)} pairs of {EQUAL} models", 0.0)


def _held(found: Found, truth: dict[str, float], lead: float, of: str) -> Iterator[dict]:
    """Yield whether each interval includes the truth, and its width. of: words on what is compared."""
    for row in found.parts.to_dict("records"):
        part = OVERALL if row["level"] == OVERALL else row["part"]
        if part in truth:
            known = 100 * (truth[part] - (lead if row["model"] == "b" else 0.0))
            yield _interval(f"accuracy, {row['level']}{of}", row, known)
    for row in found.pairs.to_dict("records"):
        known = 100 * (lead if row["model"] == "a" else -lead)
        yield _interval(f"difference, {row['level']}{of}", row, known)
    ranks = found.models.set_index("model")[["rank_low", "rank_high"]]
    held = ranks.loc["a", "rank_low"] == 1 and ranks.loc["b", "rank_high"] == 2
    yield {"what": f"ranks{of}", "held": held}


def _interval(what: str, row: dict, known: float) -> dict:
    return {"what": what, "held": row["low"] <= known <= row["high"], "width": row["high"] - row["low"]}


def _outcome(found: Found, what: str, lead: float) -> dict:
    """Return whether models are apart, and whether an interval excludes zero: with a lead, on its side.

    In `pairs` the first model is that with the higher accuracy."""
    pairs = found.pairs if lead == 0 else found.pairs[found.pairs["model"] == "a"]
    excluded = (pairs["low"] > 0) | (pairs["high"] < 0)
    return {"what": what, "lead": lead, "found": pairs["apart"].any(), "excluded": excluded.any()}


def samples_of(name: str, repetitions: int, resamples: int) -> list[dict]:
    """Simulate a layout; return what `simulated` yields of all its samples."""
    gc.freeze()  # statsmodels collects garbage in each correction, which would take a third of the time
    items, rows = layouts()[name], []
    for number in range(repetitions):
        drawing = np.random.default_rng([11, number]), Interval(resamples, 0.95, number)
        rows += [{"layout": name, "n": items.n, **one} for one in simulated(items, *drawing)]
        if (number + 1) % 50 == 0:
            print(f"{name}: {number + 1} of {repetitions} samples", file=sys.stderr)
    return rows


def compare_tables(rows: Sequence[dict]) -> dict[str, pd.DataFrame]:
    """Return two tables of layout, what, n, the number of samples and more, by their files.

    Coverage has coverage_pct and width. Power has the true difference, apart_pct, in how many samples models
    are apart, and excluded_pct, in how many an interval excludes zero. Widths and differences are in points.

    Args:
        rows: of samples_of.
    """
    table, keys = pd.DataFrame(rows), ["layout", "what", "n"]
    of_samples = table["what"].str.startswith("all ranks")  # one row of each sample
    table["samples"] = table["layout"].map(table[of_samples].groupby("layout").size())
    table["difference"] = 100 * table["lead"]
    for share, name in (("held", "coverage_pct"), ("found", "apart_pct"), ("excluded", "excluded_pct")):
        table[name] = 100 * table[share].astype(float)
    keys = [*keys, "samples"]
    held, found = table[table["held"].notna()], table[table["found"].notna()]
    covered, power = ["coverage_pct", "width"], ["apart_pct", "excluded_pct"]
    return {
        "compare.csv": held.groupby(keys, sort=False)[covered].mean().reset_index(),
        "compare_power.csv": found.groupby([*keys, "difference"], sort=False)[power].mean().reset_index(),
    }
