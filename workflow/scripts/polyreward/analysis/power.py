"""What each claim could decide with more units, from the intervals that were measured."""

import dataclasses
from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import nct, norm
from scipy.stats import t as student

from polyreward.analysis.bootstrap import Between, combined_freedom
from polyreward.analysis.verdicts import FEWEST_UNITS, UNTESTED, WIDTH, Rule

POWER = 0.8  # the probability with which an effect is to be decided
# The least and the greatest value of a unit, and how it is written
UNITS = {
    "points": (-100, 100, "+.1f"),
    "share": (-1, 1, "+.2g"),
    "correlation": (-1, 1, "+.2f"),
    "Fisher z": (-np.inf, np.inf, "+.2f"),
    "index": (-1, 1, "+.2f"),
}
OF_SEVERAL = "intersection-union"  # in the test of a claim of several contrasts
OF_Z = ["correlation", "Fisher z"]  # units whose standard error is known from the number of reward models


class UnknownError(Exception):
    """Nothing can be said of a claim's power; the text says why."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """A claim's standard error from n units, in its unit, or of Fisher's z for a correlation.

    share: of the variance that is between trainings. seeds: of each model whose variance the interval has,
    or 1."""

    error: float
    n: int
    share: float = 0.0
    seeds: int = 1


def measured_error(row: Mapping, rule: Rule, seeds: int, confidence: float) -> Measured:
    """Return a claim's standard error from its row of claims.csv; raises UnknownError where the row has none.

    seeds: of each reward model whose variance the interval has; 1 where it has none. Without a standard error
    of its own it is half the interval of one contrast, and of several the end that
    faces the bound, as it decides."""
    if row["verdict"] == UNTESTED:
        raise UnknownError(row["note"].split(" No printed ")[0].split(" Printed: ")[0])
    if row["unit"] not in UNITS:
        raise UnknownError(
            "Its interval is a bound for any two distributions of so many tokens, and has no standard error."
        )
    if row["n_of"] == "bases" and row["unit"] not in OF_Z:
        raise UnknownError("It counts bases, and its standard error is of templates.")
    low, high, estimate, n = row["low"], row["high"], row["estimate"], int(row["n"])
    if not high - low > WIDTH:
        raise UnknownError("Its interval has no width, or there is none.")
    if row["se"] <= WIDTH:  # NaN where the interval is not by resampling
        raise UnknownError("Its standard error is zero: the interval has no variance.")
    if row["unit"] == "correlation":
        low, high, estimate = np.arctanh(np.clip([low, high, estimate], -1 + 1e-12, 1 - 1e-12))
    if row["unit"] not in OF_Z and row["se_trainings"] > 0:
        return Measured(float(row["se"]), n, float(row["se_trainings"] ** 2 / row["se"] ** 2), seeds)
    facing = estimate - low if rule.side == "above" else high - estimate
    reach = facing if OF_SEVERAL in row["test"] else (high - low) / 2
    freedom = np.inf if row["unit"] in OF_Z else max(n - 1, 1)
    return Measured(reach / student.ppf(0.5 + confidence / 2, freedom), n)


@cache
def errors_to_decide(confidence: float, freedom: float) -> float:
    """Return how many standard errors off the bound a true value is decided with probability POWER.

    freedom: of the noncentral t, or inf for the normal."""
    if np.isinf(freedom):
        return float(norm.ppf(0.5 + confidence / 2) + norm.ppf(POWER))
    # statsmodels' solve_power ends early, without a word, at the small levels of corrected tests
    least = student.isf((1 - confidence) / 2, freedom)
    return float(brentq(lambda errors: nct.sf(least, freedom, errors) - POWER, 0, 10 * least))


def scaled(measured: Measured, times: float) -> tuple[float, float]:
    """Return the standard error with so many times the units, and its degrees of freedom.

    The variance between trainings stays; of one training an interval knows none. It has the degrees of
    freedom of two models' trainings: a claim of more models has more."""
    of_units = measured.error**2 * (1 - measured.share) / times
    between = measured.error**2 * measured.share if measured.seeds > 1 else 0.0
    added = [Between(between, between, 2 * (measured.seeds - 1))] if between else []
    freedom = combined_freedom(of_units, max(round(measured.n * times) - 1, 1), added)
    return float(np.sqrt(of_units + between)), freedom


def needed_value(
    measured: Measured, rule: Rule, unit: str, times: float, confidence: float, either_sign: bool = False
) -> float:
    """Return the true value from which on a claim holds with probability POWER, with so many times the units.

    nan where there is none. either_sign: as in holds_from."""
    n = round(measured.n * times)
    if n < FEWEST_UNITS:
        return np.nan
    if unit in OF_Z:
        error, freedom = measured.error * np.sqrt((measured.n - 3) / (n - 3)), np.inf
    else:
        error, freedom = scaled(measured, times)
    return holds_from(rule, unit, error, errors_to_decide(confidence, freedom), either_sign)


def holds_from(rule: Rule, unit: str, error: float, multiple: float, either_sign: bool = False) -> float:
    """Return the true value from which on a claim holds, `multiple` standard errors off its bound.

    nan where the unit has no such value. either_sign: a correlation is to be small, which both signs'
    intervals must show."""
    off = (1 if rule.side == "above" else -1) * multiple * error
    if unit != "correlation":
        value = rule.bound + off
    else:
        value = np.tanh(np.arctanh(rule.bound) + off)
        of_both = multiple - norm.ppf(POWER) + norm.ppf((1 + POWER) / 2)
        if either_sign and np.arctanh(rule.bound) < of_both * error:
            return np.nan  # even of a correlation of zero, one of the two is too seldom small enough
    least, greatest, _ = UNITS[unit]
    return float(value) if least <= value <= greatest else np.nan
