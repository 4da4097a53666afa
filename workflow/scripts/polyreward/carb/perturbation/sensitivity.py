"""How far scores move under rewrites and between languages: columns and measures."""

import numpy as np
import pandas as pd

from polyreward.carb.perturbation.perturbations import PERTURBATIONS

INDEX = ["index", "index_low", "index_high"]
PERCENT = ["percent", "percent_low", "percent_high", "percent_size"]
PERTURBATION_COLUMNS = [
    *("scorer", "kind", "perturbation", "change", "low", "high", "direction"),
    *("size", "size_low", "size_high", "lower_pct", *PERCENT, "n_items", *INDEX, "note"),
]
PAIR_COLUMNS = ["scorer", "kind", "language_1", "language_2", "consistency", "consistency_raw", "n_items"]
SAME = 1e-9  # a spread below it is rounding: all answers have the same score
NO_REWRITES = "items of carb.item_files are not rewritten"
NO_SPREAD, NO_CHANGE = "all answers to a question have the same score", "no rewrite changes a score"
CHANGES_FACT = np.array([rewrite.fact == "another" for rewrite in PERTURBATIONS.values()])


def spread(scores: pd.DataFrame) -> float:
    """Return the standard deviation of a scorer's scores of a question's answers, pooled over questions.

    Changes are relative to it: a reward model's zero and unit are arbitrary, and so is what it adds to all
    answers to a question. 0 where it never distinguishes answers."""
    found = float(np.sqrt(scores.groupby("id", sort=False)["score"].var(ddof=1).mean()))
    return found if found > SAME else 0.0


def relative_changes(scores: pd.DataFrame, unit: float) -> pd.DataFrame:
    """Return (score of the rewrite - score of the base) / unit: ids by PERTURBATIONS; nan where unit is 0.

    unit: the scorer's `spread`, not |score|: a Bradley-Terry reward may be moved by any constant, and a
    judge's base is always 0."""
    wide = scores.pivot(index="id", columns="candidate", values="score")
    rewrites = wide[list(range(1, 1 + len(PERTURBATIONS)))]
    return (rewrites.sub(wide[0], axis=0) / (unit or np.nan)).set_axis(list(PERTURBATIONS), axis=1)


def sensitivity_index(sizes: np.ndarray) -> np.ndarray:
    """Return (fact - surface) / (fact + surface) of mean sizes of change (..., PERTURBATIONS).

    fact: the mean over rewrites that change the fact (CC); surface: over the others. 1: moved only by the
    fact; 0: by both alike; -1: only by the surface; nan where nothing moves it."""
    return _index(sizes, sizes[..., ~CHANGES_FACT].mean(axis=-1, keepdims=True))[..., 0]


def indices_by_wording(sizes: np.ndarray) -> np.ndarray:
    """Return the same index of the fact against each rewrite that keeps it: (..., rewrites that keep it)."""
    return _index(sizes, sizes[..., ~CHANGES_FACT])


def _index(sizes: np.ndarray, surface: np.ndarray) -> np.ndarray:
    fact = sizes[..., CHANGES_FACT].mean(axis=-1, keepdims=True)
    both = fact + surface
    return np.divide(fact - surface, both, out=np.full(both.shape, np.nan), where=both > 0)
