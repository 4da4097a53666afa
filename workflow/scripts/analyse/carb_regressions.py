"""Regress what the picks are worth on the reward models' scores on each benchmark."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy import stats

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.verdicts import from_correlations
from polyreward.carb.downstream.correlation import (
    BENCHMARKS,
    BY_BASE,
    CORRELATE,
    CORRELATION_COLUMNS,
    FEWEST,
    FEWEST_BASES,
    OF,
    POINT_COLUMNS,
    RATINGS,
    REGRESSION,
    STEIGER,
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

    r_first, r_second: of the common variable with each of two others. r_between: of those two. z is nan where
    one is perfect or unknown. Source: Steiger 1980, formulas 10 and 14, with the average r."""
    given = (r_first, r_second, r_between)
    z = np.nan
    if (np.abs(given) < 1 - 1e-12).all():
        difference, error = fisher_difference(*given, n)
        z = difference / error
    return dict(zip(STEIGER, (*given, z, float(2 * stats.norm.sf(abs(z)))), strict=True))


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
    reliabilities = [reliability(rows[name], rows[f"{name}_se"]) for name in (rating, benchmark)]
    values = (r, low, high, count, p if np.isfinite(r) else np.nan, *reliabilities, verdict)
    return dict(zip(BY_BASE, values, strict=True))


def correlation_table(points: pd.DataFrame, interval: Interval) -> pd.DataFrame:
    """Return for each set, selection, policy and rating a regression on each benchmark.

    The row of the first benchmark has the test between the two. Too few reward models decide nothing."""
    records, (first, second) = [], BENCHMARKS
    for of, rows in points.groupby(OF, sort=False):
        whose, count = dict(zip(OF, of, strict=True)), len(rows)
        for rating in (name for name in RATINGS if rows[name].notna().any()):
            r = rows[[rating, first, second]].corr()
            for benchmark in BENCHMARKS:
                row = {**whose, "rating": rating, "benchmark": benchmark, "n": count}
                if count < FEWEST:
                    row |= {
                        "n_bases": rows["base"].nunique(),
                        "verdict": f"not decided: {count} reward models",
                    }
                else:
                    row |= regression(rows[benchmark], rows[rating], interval.confidence)
                    row |= by_base(rows, rating, benchmark, interval)
                    if benchmark == first:
                        row |= steiger(*r.loc[rating, BENCHMARKS], r.loc[first, second], count)
                records.append(row)
    return pd.DataFrame(records).reindex(columns=CORRELATION_COLUMNS)


def main(snakemake):
    points = read_table(snakemake.input[0], POINT_COLUMNS).query("kind != 'bound'")
    table = correlation_table(points, Interval(**snakemake.params.interval))
    write_exact(table, snakemake.output[0], CORRELATION_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
