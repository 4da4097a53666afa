"""Regressions over reward models, checked by hand, and the test that two correlations differ, against known answers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from polyreward.carb.correlation import CORRELATION_COLUMNS, correlation_table, regression, steiger
from polyreward.core.errors import PolyrewardError

X = np.array([24.0, 31.5, 28.2, 40.1, 35.0, 22.8, 37.3, 30.9])
Y = np.array([11.2, 15.9, 12.1, 21.4, 14.8, 12.9, 19.0, 13.3])


def test_the_regression_by_hand():
    """Least squares, its interval, HC3 and leave-one-out from the normal equations, in numpy."""
    found = regression(X, Y, 0.95)
    n, design = len(X), np.column_stack([np.ones_like(X), X])
    inverse = np.linalg.inv(design.T @ design)
    intercept, slope = inverse @ design.T @ Y
    residuals = Y - intercept - slope * X
    squares = residuals @ residuals
    error = np.sqrt(squares / (n - 2) * inverse[1, 1])
    t = stats.t.ppf(0.975, n - 2)
    assert found["n"] == n
    assert found["slope"] == pytest.approx(slope) and found["intercept"] == pytest.approx(intercept)
    assert (found["slope_low"], found["slope_high"]) == (pytest.approx(slope - t * error), pytest.approx(slope + t * error))
    assert found["p"] == pytest.approx(2 * stats.t.sf(abs(slope / error), n - 2))
    assert found["r2"] == pytest.approx(1 - squares / ((Y - Y.mean()) ** 2).sum()) == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2)
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    sandwich = inverse @ (design.T * (residuals / (1 - leverage)) ** 2 @ design) @ inverse
    robust = np.sqrt(sandwich[1, 1])
    assert found["hc3_se"] == pytest.approx(robust)
    assert (found["hc3_low"], found["hc3_high"]) == (pytest.approx(slope - t * robust), pytest.approx(slope + t * robust))
    assert found["hc3_p"] == pytest.approx(2 * stats.t.sf(abs(slope / robust), n - 2))
    by_line, by_mean = 0.0, 0.0
    for left_out in range(n):
        rest = np.arange(n) != left_out
        coefficients = np.polyfit(X[rest], Y[rest], 1)
        by_line += (Y[left_out] - np.polyval(coefficients, X[left_out])) ** 2
        by_mean += (Y[left_out] - Y[rest].mean()) ** 2
    assert found["r2_leave_one_out"] == pytest.approx(1 - by_line / by_mean)
    ranks = [stats.rankdata(values) for values in (X, Y)]
    assert found["spearman"] == pytest.approx(np.corrcoef(*ranks)[0, 1])


def test_a_perfect_line():
    found = regression(X, 3 + 0.5 * X, 0.95)
    assert found["slope"] == pytest.approx(0.5) and found["intercept"] == pytest.approx(3)
    assert found["r2"] == pytest.approx(1) and found["r2_leave_one_out"] == pytest.approx(1) and found["spearman"] == 1


def test_noise_predicts_nothing_that_is_left_out():
    generator = np.random.default_rng(0)
    found = [regression(generator.normal(size=12), generator.normal(size=12), 0.95) for _ in range(400)]
    assert np.mean([row["p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([row["slope_low"] <= 0 <= row["slope_high"] for row in found]) == pytest.approx(0.95, abs=0.03)
    assert np.mean([row["r2_leave_one_out"] for row in found]) < 0


def test_too_few_or_bad_points_are_refused():
    with pytest.raises(PolyrewardError, match="regression over 4 reward models"):
        regression(X[:4], Y[:4], 0.95)
    with pytest.raises(PolyrewardError, match="regression over 8"):
        regression(np.append(X[:7], np.nan), Y, 0.95)


def test_a_constant_has_no_slope():
    found = regression(np.full(8, 25.0), Y, 0.95)
    assert found["n"] == 8 and np.isnan(found["slope"]) and np.isnan(found["r2"])


@pytest.mark.parametrize(
    ("first", "second", "between", "n", "z"),
    [(0.0228, 0.3522, 0.3718, 553, -7.1345), (0.2493, 0.3395, 0.4082, 553, -2.0660)],
)
def test_steigers_z_is_that_of_the_r_package_cocor(first, second, between, n, z):
    found = steiger(first, second, between, n)
    assert found["z"] == pytest.approx(z, abs=2e-3)  # its inputs are printed with four digits
    assert found["z_p"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.02)


def test_williams_t_is_that_of_the_r_package_psych():
    """Its manual's example of Steiger's case A: n 103, correlations 0.4 and 0.5, 0.1 between them; t -0.89, p 0.37."""
    found = steiger(0.4, 0.5, 0.1, 103)
    assert found["williams_t"] == pytest.approx(-0.89, abs=0.005) and found["williams_p"] == pytest.approx(0.37, abs=0.006)


def test_the_test_is_symmetric_and_finds_nothing_between_equals():
    one, other = steiger(0.7, 0.2, 0.3, 16), steiger(0.2, 0.7, 0.3, 16)
    assert one["z"] == pytest.approx(-other["z"]) and one["williams_p"] == pytest.approx(other["williams_p"])
    assert steiger(0.5, 0.5, 0.3, 16)["z_p"] == steiger(0.5, 0.5, 0.3, 16)["williams_p"] == 1
    assert one["z_p"] < steiger(0.7, 0.2, -0.3, 16)["z_p"]  # what two benchmarks have in common sharpens the test


def test_the_test_keeps_its_level():
    """Both correlations are 0.5 in truth, with a common part: 5% of samples differ by the test."""
    generator = np.random.default_rng(1)
    covariance = np.array([[1, 0.5, 0.5], [0.5, 1, 0.3], [0.5, 0.3, 1]])
    found = []
    for _ in range(1000):
        r = np.corrcoef(generator.multivariate_normal(np.zeros(3), covariance, size=16).T)
        found.append(steiger(r[0, 1], r[0, 2], r[1, 2], 16))
    assert np.mean([row["williams_p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.02)
    assert np.mean([row["z_p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.025)


def test_benchmarks_that_are_one_and_the_same_have_no_test():
    found = steiger(0.5, 0.5, 1.0, 16)
    assert np.isnan(found["z"]) and found["r_between"] == 1
    assert np.isnan(steiger(float("nan"), 0.5, 0.2, 16)["williams_p"])


def test_the_table_has_a_row_for_each_policy_rating_and_benchmark():
    points = pd.DataFrame({"policy": ["p"] * 8 + ["q"] * 8, "chrf": [*Y, *Y[::-1]], "match": [*X, *Y], "carb": [*X, *X],
                           "rewardbench": [*(X + Y), *(Y - X)]})  # fmt: skip
    found = correlation_table(points, 0.95)
    assert list(found.columns) == CORRELATION_COLUMNS and len(found) == 8
    first, second = found[(found["policy"] == "p") & (found["rating"] == "chrf")].itertuples()
    assert first.r2 == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2) == pytest.approx(first.r_first**2)
    assert second.r2 == pytest.approx(first.r_second**2) and np.isnan(second.z)
    assert first.r_between == pytest.approx(np.corrcoef(X, X + Y)[0, 1])
