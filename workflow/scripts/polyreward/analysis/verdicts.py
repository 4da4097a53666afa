"""From an interval to a verdict, by a rule that was written down beforehand (workflow/claims.yaml)."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

HOLDS, FAILS, UNDECIDED = "holds", "fails", "not decided by this data"
Ends = Callable[[float], tuple[np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Rule:
    """When a claim holds. side: of the bound, "above" or "below"; threshold, margin: the bound, and how far short is a tie."""

    side: str
    threshold: float
    margin: float

    @property
    def bound(self) -> float:
        """What the interval must clear: the threshold, moved by the margin away from the claim."""
        return self.threshold - self.margin if self.side == "above" else self.threshold + self.margin

    def __str__(self) -> str:
        """Return the rule as a table has it."""
        margin = f" ({self.threshold:g} with a margin of {self.margin:g})" if self.margin else ""
        return f"{self.side} {self.bound:g}{margin}"


@dataclasses.dataclass(frozen=True)
class Contrasts:
    """What a claim compares: one number, or several that must all be on one side.

    points: (contrasts,). ends: confidence -> the intervals' (low ends, high ends), each (contrasts,)."""

    points: np.ndarray
    ends: Ends


def from_draws(values: np.ndarray) -> Contrasts:
    """Contrasts with percentile intervals. values: (1 + resamples, contrasts), first the data's own, then the resamples'."""

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        tail = 50 * (1 - confidence)
        low, high = np.percentile(values[1:], [tail, 100 - tail], axis=0)
        return low, high

    return Contrasts(values[0], ends)


def from_units(units: Sequence[Sequence[float]]) -> Contrasts:
    """Contrasts that are means of units, with Student's t intervals; none of fewer than two units. units: of each contrast."""
    samples = [np.asarray(values, dtype=float) for values in units]

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        reach = [
            student.ppf(0.5 + confidence / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            if len(values) > 1
            else np.nan
            for values in samples
        ]
        return points - reach, points + reach

    points = np.array([values.mean() for values in samples])
    return Contrasts(points, ends)


def from_correlations(points: Sequence[float], n: int) -> Contrasts:
    """Contrasts that are correlations of n pairs, with Fisher's intervals."""
    values = np.asarray(points, dtype=float)
    middle = np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        reach = norm.ppf(0.5 + confidence / 2) / np.sqrt(n - 3)
        return np.tanh(middle - reach), np.tanh(middle + reach)

    return Contrasts(values, ends)


def from_normal(point: float, error: float) -> Contrasts:
    """One contrast with a normal interval. error: its standard error."""

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        reach = norm.ppf(0.5 + confidence / 2) * error
        return np.array([point - reach]), np.array([point + reach])

    return Contrasts(np.array([point]), ends)


def extreme(contrasts: Contrasts, side: str, confidence: float) -> tuple[float, float, float]:
    """Return the estimate and the interval (low, high) of the least contrast (side "above") or the greatest ("below").

    All contrasts are on the claimed side where the worst of them is. The end that faces the bound is the worst of all
    the intervals' ends, which needs no correction (an intersection-union test); the other end, which can refute the claim by
    any one contrast, is Bonferroni's."""
    corrected = 1 - (1 - confidence) / len(contrasts.points)
    (lows, highs), (far_lows, far_highs) = contrasts.ends(confidence), contrasts.ends(corrected)
    ends = (contrasts.points, lows, far_highs) if side == "above" else (contrasts.points, far_lows, highs)
    worst = np.min if side == "above" else np.max
    estimate, low, high = (float(worst(values)) for values in ends)
    return estimate, low, high


def verdict(low: float, high: float, rule: Rule) -> str:
    """Return what an interval says of a claim; an end that is no number, or on the bound, decides nothing."""
    if low > rule.bound:
        return HOLDS if rule.side == "above" else FAILS
    if high < rule.bound:
        return FAILS if rule.side == "above" else HOLDS
    return UNDECIDED
