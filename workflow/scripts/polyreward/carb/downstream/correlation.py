"""What the rating of picks and its correlation with benchmarks share: columns, permutations, reliability."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.verdicts import fisher_error
from polyreward.core.errors import PolyrewardError
from polyreward.core.naming import BEST_OF_N
from polyreward.core.seeds import job_seed

RATINGS, BENCHMARKS = ["match", "chrf"], ["carb", "rewardbench"]
ERRORS = [f"{name}_se" for name in (*RATINGS, *BENCHMARKS)]
# What a row is of: a set of questions; how a reward model chose the answers; whose they are, or POOLED
OF = ["downstream", "selection", "policy"]
POINT_COLUMNS = [*OF, "scorer", "base", "kind", *RATINGS, "n_questions", "n_candidates", *BENCHMARKS, *ERRORS]
PICK_ERRORS = [f"{rating}_se" for rating in RATINGS]
PICK_COLUMNS = [*OF, "scorer", "kind", *RATINGS, *PICK_ERRORS, "n_questions", "n_candidates"]
BEFORE = "before GRPO"  # the bound of trained policies: the one that all of them start from
POOLED = "all"  # the mean over policies, as a policy of its own
FEWEST = 5  # reward models; with fewer an interval says nothing
FEWEST_BASES = 8  # fewer bases give no verdict, since reward models of one base are alike
PERMUTATIONS = 1999
REGRESSION = ["n", "slope", "slope_low", "slope_high", "intercept", "p", "r2"]
STEIGER = ["r_first", "r_second", "r_between", "z", "z_p"]
CORRELATE = "correlate"  # the verdict where they do
RELIABILITIES = ["reliability_rating", "reliability_benchmark"]
BY_BASE = ["r", "r_low", "r_high", "n_bases", "p_permuted", *RELIABILITIES, "verdict"]
CORRELATION_COLUMNS = [*OF, "rating", "benchmark", *REGRESSION, *BY_BASE, *STEIGER]
R2, P = "r_squared", "p_value"


def fisher_difference(r_first: float, r_second: float, r_between: float, n: int) -> tuple[float, float]:
    """Return the difference of Fisher's z of two correlations with a common variable, and its error.

    Arguments as in carb_regressions.steiger."""
    mean2 = ((r_first + r_second) / 2) ** 2
    covariance = (r_between * (1 - 2 * mean2) - mean2 * (1 - 2 * mean2 - r_between**2) / 2) / (1 - mean2) ** 2
    error = np.sqrt(2 - 2 * covariance) * fisher_error(n)
    return float(np.arctanh(r_first) - np.arctanh(r_second)), float(error)


def permuted_by_base(values: Sequence[float], bases: Sequence[str], seed: int, *key: str) -> np.ndarray:
    """Return permuted values (PERMUTATIONS, n): a base gets another's mean, its members each other's rest.

    Reward models of one base are alike, so that they stay together. Exact where bases have equally many.
    Source: Winkler et al. 2015, Multi-level block permutation, NeuroImage 123."""
    values, place = np.asarray(values, dtype=float), np.unique(np.asarray(bases), return_inverse=True)[1]
    means = np.bincount(place, weights=values) / np.bincount(place)
    generator = np.random.default_rng(job_seed(seed, "permutation", *key))
    drawn = generator.permuted(np.tile(means, (PERMUTATIONS, 1)), axis=1)[:, place]
    for base in np.flatnonzero(np.bincount(place) > 1):
        members = np.flatnonzero(place == base)
        rest = np.tile(values[members] - means[base], (PERMUTATIONS, 1))
        drawn[:, members] += generator.permuted(rest, axis=1)
    return drawn


def correlations_with(drawn: np.ndarray, others: pd.DataFrame) -> np.ndarray:
    """Return each row's correlation with each column: (rows, columns). drawn: (rows, n); others: n rows."""
    rows, columns = drawn - drawn.mean(axis=1, keepdims=True), (others - others.mean()).to_numpy(dtype=float)
    sizes = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(columns, axis=0)
    return np.divide(rows @ columns, sizes, out=np.zeros_like(sizes), where=sizes > 1e-12)


def reliability(values: Sequence[float], errors: Sequence[float]) -> float:
    """Return the share of scores' variance, 0 to 1, that is not their error; nan where they do not vary.

    It is the least share: what moves all scores alike is in the standard errors, too."""
    variance = np.var(np.asarray(values, dtype=float), ddof=1)
    return float(np.clip(1 - np.mean(np.square(errors)) / variance, 0, 1)) if variance > 0 else float("nan")


def shown_rating(rows: pd.DataFrame, rating: str) -> str:
    """Return the rating that a set is shown by: chrf where it only has references."""
    return rating if rating in rows and rows[rating].notna().any() else "chrf"


def over_sets(points: pd.DataFrame, rating: str) -> pd.DataFrame:
    """Return best-of-N's points over all policies, a row per scorer: `rating` and its error are the means
    over sets of the ratings that are shown."""
    rows = points[(points["selection"] == BEST_OF_N) & (points["policy"] == POOLED)]
    if rows.empty:
        what = "no best-of-N row for all policies. Delete the file and run the same command again"
        raise PolyrewardError(f"work/6_analysis/carb/points.csv: {what}")
    error, parts = f"{rating}_se", []
    for _, of_set in rows.groupby("downstream", sort=False):
        shown = shown_rating(of_set, rating)
        parts.append(of_set.assign(**{rating: of_set[shown], error: of_set[f"{shown}_se"]}))
    means = pd.concat(parts).groupby("scorer", sort=False)[[rating, error]].mean()
    first = rows.drop_duplicates("scorer").reset_index(drop=True)
    return first.assign(**{column: first["scorer"].map(means[column]) for column in (rating, error)})
