"""Regress what the picks are worth on the reward models' scores on each benchmark."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.verdicts import from_correlations
from polyreward.carb.downstream.correlation import (
    BENCHMARKS,
    CORRELATE,
    CORRELATION_COLUMNS,
    FEWEST,
    FEWEST_BASES,
    OF,
    POINT_COLUMNS,
    RATINGS,
    REGRESSION,
    correlations_with,
    fisher_difference,
    permuted_by_base,
    reliability,
)
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_table, write_exact
from polyreward.ops.jobs import run


def regression(x: Sequence[float], y: Sequence[float], confidence: float) -> dict[str, float]:
    """Regress y on x by ordinary least squares; return REGRESSION's values, nan where x or y is constant.

    Raises PolyrewardError where there are fewer than FEWEST points, or one is not a number."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) < FEWEST or not np.isfinite([x, y]).all():
        raise PolyrewardError(
            f"a regression over {len(x)} reward models; list at least {FEWEST}, each with both scores"
        )
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return {"n": len(x), **dict.fromkeys(REGRESSION[1:], float("nan"))}
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    (intercept, slope), (low, high) = fit.params, fit.conf_int(1 - confidence)[1]
    values = (len(x), slope, low, high, intercept, fit.pvalues[1], fit.rsquared)
    return dict(zip(REGRESSION, values, strict=True))


def steiger(r_first: float, r_second: float, r_between: float, n: int) -> dict[str, float]:
    """Test whether two correlations with one variable differ; return STEIGER's values, p two-sided.

    r_first, r_second: of the common variable (a rating) with each of two others. r_between: of those two.
    The test takes the average correlation. z is nan where a correlation is perfect or unknown. Source:
    Steiger 1980, formulas 10 and 14."""
    given = {"r_first": r_first, "r_second": r_second, "r_between": r_between}
    if not (np.abs(list(given.values())) < 1 - 1e-12).all():
        return {**given, "z": np.nan, "z_p": np.nan}
    difference, error = fisher_difference(r_first, r_second, r_between, n)
    z = difference / error
    return {**given, "z": z, "z_p": float(2 * stats.norm.sf(abs(z)))}


def permutation_p(r: float, permuted: np.ndarray) -> float:
    """Return the two-sided p: the share of the permuted correlations, and itself, that are as large."""
    return float((1 + (np.abs(permuted) >= abs(r) - 1e-9).sum()) / (1 + len(permuted)))


def by_base(rows: pd.DataFrame, rating: str, benchmark: str, interval: Interval) -> dict[str, float | str]:
    """Return BY_BASE's values of a rating's correlation with a benchmark's score. rows: a reward model each.

    r_low, r_high: Fisher's interval, which counts bases; nan with fewer than four. verdict: by permutation
    over bases; not decided with fewer than FEWEST_BASES."""
    bases, r = rows["base"], rows[rating].corr(rows[benchmark])
    permuted = permuted_by_base(rows[rating], bases, interval.seed, "correlation")
    count, p = bases.nunique(), permutation_p(r, correlations_with(permuted, rows[[benchmark]])[:, 0])
    low, high = (ends[0] for ends in from_correlations([r], count).ends(interval.confidence))
    if count < FEWEST_BASES:
        verdict = f"not decided: fewer than {FEWEST_BASES} bases ({count})"
    elif not np.isfinite(r):
        verdict = "not decided: scores do not differ"
    else:
        verdict = CORRELATE if p < 1 - interval.confidence else "not decided"
    return {
        "r": r,
        "r_low": low,
        "r_high": high,
        "n_bases": count,
        "p_permuted": p if np.isfinite(r) else np.nan,
        "reliability_rating": reliability(rows[rating], rows[f"{rating}_se"]),
        "reliability_benchmark": reliability(rows[benchmark], rows[f"{benchmark}_se"]),
        "verdict": verdict,
    }


def correlation_table(points: pd.DataFrame, interval: Interval) -> pd.DataFrame:
    """Return for each set, selection, policy and rating a regression on each benchmark.

    The row of the first benchmark has the test between the two. Too few reward models decide nothing."""
    records = []
    for of, rows in points.groupby(OF, sort=False):
        whose = dict(zip(OF, of, strict=True))
        for rating in (name for name in RATINGS if rows[name].notna().any()):
            if len(rows) < FEWEST:
                verdict = f"not decided: {len(rows)} reward models"
                few = {"n": len(rows), "n_bases": rows["base"].nunique(), "verdict": verdict}
                found = [{"benchmark": benchmark, **few} for benchmark in BENCHMARKS]
            else:
                found = _regressions(rows, rating, interval)
            records += [{**whose, "rating": rating, **row} for row in found]
    return pd.DataFrame(records).reindex(columns=CORRELATION_COLUMNS)


def _regressions(rows: pd.DataFrame, rating: str, interval: Interval) -> Iterator[dict]:
    first, second = BENCHMARKS
    r = rows[[rating, first, second]].corr()
    test = steiger(r.loc[rating, first], r.loc[rating, second], r.loc[first, second], len(rows))
    for benchmark, extra in ((first, test), (second, {})):
        found = regression(rows[benchmark], rows[rating], interval.confidence)
        yield {"benchmark": benchmark, **found, **by_base(rows, rating, benchmark, interval), **extra}


def main(snakemake):
    points = read_table(snakemake.input[0], POINT_COLUMNS).query("kind != 'bound'")
    table = correlation_table(points, Interval(**snakemake.params.interval))
    write_exact(table, snakemake.output[0], CORRELATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
