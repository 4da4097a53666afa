"""Accuracy of pairs, of subsets and of all items."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from polyreward.analysis.bootstrap import effective_units
from polyreward.core.conversations import rejected_of
from polyreward.core.tables import check_numbers

ALL = "all items"  # the name of the row over every subset


def correctness(scores: pd.DataFrame, ties: str) -> np.ndarray:
    """Return for each pair 1.0 when score_chosen > score_rejected, else 0.0.

    ties: "wrong" (0.0; a reward model's) or "half" (0.5; a baseline's, whose ties are coin tosses)."""
    chosen, rejected = scores["score_chosen"].to_numpy(float), scores["score_rejected"].to_numpy(float)
    check_numbers(scores, ["score_chosen", "score_rejected"])
    tie_value = {"wrong": 0.0, "half": 0.5}[ties]
    return np.where(chosen == rejected, tie_value, (chosen > rejected).astype(float))


def subset_summary(
    scores: pd.DataFrame, ties: str = "wrong", confidence: float = 0.95, units: pd.Series | None = None
) -> pd.DataFrame:
    """Return the accuracy (%) of each subset and of all items, with Wilson intervals over items.

    units: what each item is of, such as its request. Items of one unit then count as one: an interval is that
    of as many items as there are units of equal size, fewer where sizes differ. truncated_pct: conversations
    that were cut. n_within_noise: items whose margin batching may turn."""
    right = pd.Series(correctness(scores, ties), index=scores.index)
    records = []
    for subset, kept in [*scores.groupby("subset"), (ALL, scores)]:
        values = right[kept.index]
        n = len(values)
        count = n if units is None else effective_units(units[kept.index].value_counts())
        right_units = values.sum() * (count / n)
        low, high = proportion_confint(right_units, count, alpha=1 - confidence, method="wilson")
        records.append(
            {
                "subset": subset,
                "accuracy_pct": 100 * values.mean(),
                "low": 100 * low,
                "high": 100 * high,
                "n_items": n,
                "truncated_pct": 100 * kept["truncated_share"].mean(),
                "n_within_noise": int(kept["within_noise"].sum()),
            }
        )
    return pd.DataFrame(records)


def chance(rows: Sequence[dict]) -> float:
    """Return the share (%) of items that a scorer which does not read gets right."""
    return 100 * float(np.mean([1 / (1 + len(rejected_of(row))) for row in rows]))
