"""From scores to accuracies: of subsets, of sections, and the two averages that people confuse."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import check_numbers

ALL = "all items"  # the name of the row over every subset


class MissingSubset(PolyrewardError):  # noqa: N818 - named for what is missing
    """A section needs a subset that has no accuracy."""


def correctness(scores: pd.DataFrame, ties: str) -> np.ndarray:
    """Return for each pair 1.0 when score_chosen > score_rejected, else 0.0.

    ties: "wrong" (0.0; a reward model's) or "half" (0.5; a baseline's, whose ties are coin tosses).
    Raises PolyrewardError on a score that is not a number."""
    chosen, rejected = scores["score_chosen"].to_numpy(float), scores["score_rejected"].to_numpy(float)
    check_numbers(scores, ["score_chosen", "score_rejected"])
    tie_value = {"wrong": 0.0, "half": 0.5}[ties]
    return np.where(chosen == rejected, tie_value, (chosen > rejected).astype(float))


def section_scores(
    accuracy: dict[str, float], weights: dict[str, float], sections: dict[str, Sequence[str]]
) -> dict[str, float]:
    """Weighted mean accuracy of each section.

    accuracy: {subset: fraction}.
    weights: {subset: pairs}.
    sections: {section: subsets}.
    Returns {section: fraction}.
    Raises MissingSubset where a section's subset has no accuracy. Source: RewardBench v1."""
    missing = sorted({subset for subsets in sections.values() for subset in subsets} - accuracy.keys())
    if missing:
        raise MissingSubset(
            f"no accuracy for the subsets {', '.join(missing)}; score them or take them out of the benchmark"
        )
    return {
        section: float(np.average([accuracy[s] for s in subsets], weights=[weights[s] for s in subsets]))
        for section, subsets in sections.items()
    }


def section_mean(sections: dict[str, float]) -> float:
    """Plain mean of the section scores: the papers' average, and RewardBench v1's leaderboard without prior
    sets."""
    return float(np.mean(list(sections.values())))


def subset_weights(subsets: Sequence[str], overrides: dict[str, float]) -> dict[str, float]:
    """Pairs per subset, save where the benchmark sets a weight of its own (`math-prm` weighs 984)."""
    counts = pd.Series(list(subsets)).value_counts()
    return {subset: float(overrides.get(subset, count)) for subset, count in counts.items()}


def subset_summary(scores: pd.DataFrame, ties: str = "wrong", confidence: float = 0.95) -> pd.DataFrame:
    """Accuracy (%) of each subset and of all items, with Wilson intervals over items.

    ties: as in correctness. confidence: of the intervals, a fraction. truncated_pct: share of
    conversations that were cut. n_within_noise: items whose margin is no larger than what batching may
    move."""
    right = pd.Series(correctness(scores, ties), index=scores.index)
    records = []
    for subset, kept in [*scores.groupby("subset"), (ALL, scores)]:
        values = right[kept.index]
        low, high = proportion_confint(values.sum(), len(values), alpha=1 - confidence, method="wilson")
        records.append(
            {
                "subset": subset,
                "accuracy_pct": 100 * values.mean(),
                "low": 100 * low,
                "high": 100 * high,
                "n_items": len(values),
                "truncated_pct": 100 * kept["truncated_share"].mean(),
                "n_within_noise": int(kept["within_noise"].sum()),
            }
        )
    return pd.DataFrame(records)


def chance(rows: Sequence[dict]) -> float:
    """Share (%) of items that a scorer which does not read gets right: one answer of each item's, at
    random."""
    answers = [2 if isinstance(row["rejected"], str) else 1 + len(row["rejected"]) for row in rows]
    return 100 * float(np.mean([1 / count for count in answers]))
