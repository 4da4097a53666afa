"""From an interval to a verdict, by a rule that was written down beforehand (a paper's claims.yaml)."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import ks_2samp, kstwobign, norm

from polyreward.analysis.bootstrap import (
    Between,
    between_trainings,
    exact_p,
    share_interval,
    student_interval,
    with_trainings,
)

HOLDS, FAILS, UNDECIDED, UNTESTED = "holds", "fails", "not decided", "not tested"
SMALLER = "smaller than claimed"  # short of the bound, and not known to be on the other side of zero
NOT_ALL = "not all"  # of several contrasts, some are against the claim, and some not
# Claims about training that too few trainings decide
SUGGESTED, SUGGESTED_AGAINST = "suggested", "suggested against"
ONLY_THESE = "these models only"  # what such a verdict is about
VERDICTS = [HOLDS, FAILS, SMALLER, NOT_ALL, SUGGESTED, SUGGESTED_AGAINST, UNDECIDED, UNTESTED]
FEWEST_UNITS = 10  # templates, topics, passages and so on, below which an interval decides nothing
SURE = 1e-6  # the least p that is looked for
WIDTH = 1e-9  # of an interval or a standard error: less is rounding
Ends = Callable[[float], tuple[np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Rule:
    """When a claim holds: on which side ("above" or "below") of a threshold, where so much short is a tie."""

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
class Drawn:
    """Resampled contrasts: values (1 + resamples, contrasts), first the data's own, their degrees of freedom,
    and what trainings of each model add to the variance of each contrast."""

    values: np.ndarray
    freedom: int
    between: Sequence[Sequence[Between]]

    def errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard errors of the contrasts, and the part of them from trainings."""
        of_trainings = np.array([sum(of_model.added for of_model in models) for models in self.between])
        return np.sqrt(self.values[1:].var(axis=0) + of_trainings), np.sqrt(of_trainings)

    def ends(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the low and the high ends, with trainings' variance and Student's t."""
        widened = (
            with_trainings(values, self.freedom, models)
            for values, models in zip(self.values.T, self.between, strict=True)
        )
        low, high = np.array([student_interval(values, confidence, freedom) for values, freedom in widened]).T
        return low, high


@dataclasses.dataclass(frozen=True)
class Contrasts:
    """What a claim compares: one number, or several that must all be on one side.

    points: (contrasts,). ends: from a confidence to the intervals' low and high ends, each (contrasts,).
    least: the least p that they can show. drawn: what from_draws made them of. exact: p of each by an exact
    test of no difference, where so few units differ that resamples cannot tell."""

    points: np.ndarray
    ends: Ends
    least: float = SURE
    drawn: Drawn | None = None
    exact: np.ndarray | None = None


def from_draws(values: np.ndarray, freedom: int, of_each: np.ndarray | None = None) -> Contrasts:
    """Return contrasts with bootstrap intervals; values and freedom as in Drawn.

    of_each: (1 + resamples, contrasts, models, trainings), the values with one training of one model; None
    where there is one of each."""
    contrasts, models = values.shape[1], 0 if of_each is None else of_each.shape[2]
    between = [
        [between_trainings(of_each[:, place, model]) for model in range(models)] for place in range(contrasts)
    ]
    return _of_drawn(Drawn(values, freedom, between))


def _of_drawn(drawn: Drawn) -> Contrasts:
    return Contrasts(drawn.values[0], drawn.ends, 2 / len(drawn.values), drawn)


def from_shares(
    values: np.ndarray, freedom: int, units: Sequence[float], differences: Sequence[np.ndarray] = ()
) -> Contrasts:
    """Return differences of shares in points with the tables' intervals.

    units: each contrast's number. differences: of each contrast, what each independent unit adds to it."""

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        pairs = [
            share_interval(drawn / 100, confidence, freedom, n, -1)
            for drawn, n in zip(values.T, units, strict=True)
        ]
        low, high = 100 * np.array(pairs).T
        return low, high

    exact = np.array([exact_p(of_units) for of_units in differences]) if len(differences) else None
    return dataclasses.replace(from_draws(values, freedom), ends=ends, exact=exact)


def less(contrasts: Contrasts, others: Contrasts) -> Contrasts:
    """Return the differences of jointly drawn contrasts; others: as many, or one to take from each."""
    one, other = contrasts.drawn, others.drawn
    if one is None or other is None:
        raise ValueError("only contrasts that were drawn jointly, by from_draws, have a difference")
    values = one.values - other.values
    repeated = ([*drawn.between] * (values.shape[1] // len(drawn.between)) for drawn in (one, other))
    between = [[*of_one, *of_other] for of_one, of_other in zip(*repeated, strict=True)]
    return _of_drawn(Drawn(values, min(one.freedom, other.freedom), between))


def constant(value: float) -> Contrasts:
    """Return a known contrast without an interval."""
    return Contrasts(np.array([value]), lambda confidence: (np.array([np.nan]), np.array([np.nan])))


def from_permutations(values: np.ndarray) -> Contrasts:
    """Return the mean of permutations (permutations, contrasts), and between which values they are."""

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        return low, high

    return Contrasts(values.mean(axis=0), ends, 2 / (1 + len(values)))


def beyond(points: Sequence[float], null: Contrasts) -> Contrasts:
    """Return points minus what they are by chance: above zero where they are above the null's high ends."""
    values = np.asarray(points, dtype=float)

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        lows, highs = null.ends(confidence)
        return values - highs, values - lows

    return Contrasts(values - null.points, ends, null.least)


def from_correlations(points: Sequence[float], n: int) -> Contrasts:
    """Return correlations of n pairs with Fisher's intervals; none of fewer than four."""
    values = np.asarray(points, dtype=float)
    middle = np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))
    return _with_normal_ends(values, middle, fisher_error(n), np.tanh)


def fisher_error(n: int) -> float:
    """Return the standard error of Fisher's z of a correlation of n pairs; nan of fewer than four."""
    return float(1 / np.sqrt(n - 3)) if n > 3 else np.nan


def from_normal(points: float | np.ndarray, errors: float | np.ndarray) -> Contrasts:
    """Return contrasts with normal intervals of these standard errors."""
    values = np.atleast_1d(points)
    return _with_normal_ends(values, values, errors, np.asarray)


def _with_normal_ends(
    points: np.ndarray,
    middle: np.ndarray,
    error: float | np.ndarray,
    scale: Callable[[np.ndarray], np.ndarray],
) -> Contrasts:
    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        reach = norm.ppf(0.5 + confidence / 2) * error
        return scale(middle - reach), scale(middle + reach)

    return Contrasts(points, ends)


def from_ks(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> Contrasts:
    """Return two-sample KS statistics (NaN without tokens), with intervals for any distributions and any n.

    Source: the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, for both samples (union bound).
    """
    points = np.array(
        [ks_2samp(*pair, method="asymp").statistic if all(map(len, pair)) else np.nan for pair in sets]
    )

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        error = np.log(4 / (1 - confidence)) / 2
        reach = np.array([sum(np.sqrt(error / max(len(values), 1)) for values in pair) for pair in sets])
        return np.clip(points - reach, 0, 1), np.clip(points + reach, 0, 1)

    return Contrasts(points, ends)


def from_permuted_ks(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> Contrasts:
    """Return KS statistics under permutation of both sets' values, by Kolmogorov's limit for many values.

    It is the same for all continuous distributions, and equal values only make it smaller.
    """
    scale = np.array([np.sqrt(1 / max(len(one), 1) + 1 / max(len(other), 1)) for one, other in sets])

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = kstwobign.ppf([(1 - confidence) / 2, (1 + confidence) / 2])
        return np.clip(low * scale, 0, 1), np.clip(high * scale, 0, 1)

    return Contrasts(np.clip(kstwobign.mean() * scale, 0, 1), ends)


def extreme(contrasts: Contrasts, side: str, confidence: float) -> tuple[float, float, float]:
    """Return the estimate and the interval's ends of the least contrast (side "above") or the greatest
    ("below").

    The end that faces the bound is the worst of all intervals' ends: an intersection-union test needs no
    correction. Any one contrast can refute the claim at the other end, which has Bonferroni's.
    """
    corrected = 1 - (1 - confidence) / len(contrasts.points)
    (lows, highs), (far_lows, far_highs) = contrasts.ends(confidence), contrasts.ends(corrected)
    worst, ends = (np.min, (lows, far_highs)) if side == "above" else (np.max, (far_lows, highs))
    estimate, low, high = (float(worst(values)) for values in (contrasts.points, *ends))
    return estimate, low, high


def errors_at_bound(contrasts: Contrasts, side: str, confidence: float) -> tuple[float, float]:
    """Return the standard error of the contrast that faces the bound, and trainings' part; NaN without."""
    if contrasts.drawn is None:
        return np.nan, np.nan
    lows, highs = contrasts.ends(confidence)
    place = np.argmin(lows) if side == "above" else np.argmax(highs)
    whole, of_trainings = contrasts.drawn.errors()
    return float(whole[place]), float(of_trainings[place])


def without_variance(contrasts: Contrasts) -> np.ndarray:
    """Return of each contrast whether it was drawn and its standard error is zero or not finite."""
    if contrasts.drawn is None:
        return np.zeros(len(contrasts.points), dtype=bool)
    errors, _ = contrasts.drawn.errors()
    return ~(np.isfinite(errors) & (errors > WIDTH))


def _deciding(contrasts: Contrasts) -> Contrasts:
    """Return contrasts of which those without variance may be anywhere, whatever the ends of their intervals:
    share_interval widens even resamples that are all equal. Those with an exact p may be zero below it."""
    unknown = without_variance(contrasts)
    exact = np.zeros(len(unknown)) if contrasts.exact is None else contrasts.exact

    def ends(confidence: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = contrasts.ends(confidence)
        none = exact > 1 - confidence  # no difference is possible at this confidence
        low, high = np.where(none, np.minimum(low, 0), low), np.where(none, np.maximum(high, 0), high)
        return np.where(unknown, low - np.inf, low), np.where(unknown, high + np.inf, high)

    return dataclasses.replace(contrasts, ends=ends)


def verdict(contrasts: Contrasts, rule: Rule, confidence: float) -> str:
    """Return what contrasts say of a claim.

    An end that is no number or on the bound, an interval without width, and a contrast without variance
    decide nothing. A refuted claim of several contrasts "fails" where each is known to be on the wrong side,
    else it is "not all". One contrast "fails" too, but that a lead which may be above zero is "smaller than
    claimed"."""
    contrasts = _deciding(contrasts)
    _, low, high = extreme(contrasts, rule.side, confidence)
    side, count = _side(low, high, rule), len(contrasts.points)
    if not side or not high - low > WIDTH:
        return UNDECIDED
    if side == rule.side:
        return HOLDS
    if count == 1:
        return SMALLER if rule.side == "above" and rule.bound > 0 and high > 0 else FAILS
    lows, highs = contrasts.ends(1 - (1 - confidence) / count)
    wrong = highs < rule.bound if rule.side == "above" else lows > rule.bound
    return FAILS if np.all(wrong) else NOT_ALL


def _side(low: float, high: float, rule: Rule) -> str:
    """Return on which side of the bound an interval is; "" where it is on neither."""
    return "above" if low > rule.bound else "below" if high < rule.bound else ""


def holds_beyond(contrasts: Contrasts, rule: Rule, confidence: float) -> bool:
    """Return whether contrasts minus their null's are surely on the claimed side of zero."""
    return verdict(contrasts, Rule(rule.side, 0, 0), confidence) == HOLDS


def p_beyond(contrasts: Contrasts, rule: Rule) -> float:
    """Return the least 1 - confidence at which `holds_beyond` is true; 1 where it never is, NaN without
    intervals."""
    zero = Rule(rule.side, 0, 0)
    p = p_value(contrasts, zero)
    return 1.0 if p < 1 and leaning(contrasts, zero) != rule.side else p


def leaning(contrasts: Contrasts, rule: Rule) -> str:
    """Return on which side of the bound contrasts are, however unsurely; "" where they are on neither."""
    return _side(*extreme(_deciding(contrasts), rule.side, SURE)[1:], rule)


def p_value(contrasts: Contrasts, rule: Rule) -> float:
    """Return the least 1 - confidence that decides the verdict; 1 where none does, NaN without interval."""
    contrasts = _deciding(contrasts)
    _, low, high = extreme(contrasts, rule.side, 1 - contrasts.least)
    if np.isnan([low, high]).any():
        return np.nan
    if not high - low > WIDTH:
        return 1.0
    if _side(low, high, rule):
        return contrasts.least
    # Towards no confidence intervals lose their width, so that here only the side decides
    undecided, decided = contrasts.least, 1 - SURE
    if not leaning(contrasts, rule):
        return 1.0
    while decided / undecided > 1.001:
        middle = np.sqrt(decided * undecided)
        if _side(*extreme(contrasts, rule.side, 1 - middle)[1:], rule):
            decided = middle
        else:
            undecided = middle
    return float(decided)
