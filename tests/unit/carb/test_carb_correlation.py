"""Regressions over reward models, checked by hand, and the test that two correlations differ, against known
answers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support import script

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.downstream.correlation import (
    CORRELATION_COLUMNS,
    ERRORS,
    PERMUTATIONS,
    correlations_with,
    permuted_by_base,
    reliability,
)
from polyreward.core.errors import PolyrewardError

regressions = script("analyse/carb_regressions")

display_correlations = script("artifacts/carb_correlation").display_correlations

X = np.array([24.0, 31.5, 28.2, 40.1, 35.0, 22.8, 37.3, 30.9])
Y = np.array([11.2, 15.9, 12.1, 21.4, 14.8, 12.9, 19.0, 13.3])


def test_the_regression_by_hand():
    """Least squares and its interval from the normal equations, in numpy."""
    found = regressions.regression(X, Y, 0.95)
    n, design = len(X), np.column_stack([np.ones_like(X), X])
    inverse = np.linalg.inv(design.T @ design)
    intercept, slope = inverse @ design.T @ Y
    residuals = Y - intercept - slope * X
    squares = residuals @ residuals
    error = np.sqrt(squares / (n - 2) * inverse[1, 1])
    t = stats.t.ppf(0.975, n - 2)
    assert found["n"] == n
    assert found["slope"] == pytest.approx(slope) and found["intercept"] == pytest.approx(intercept)
    assert [found["slope_low"], found["slope_high"]] == pytest.approx([slope - t * error, slope + t * error])
    assert found["p"] == pytest.approx(2 * stats.t.sf(abs(slope / error), n - 2))
    assert found["r2"] == pytest.approx(1 - squares / ((Y - Y.mean()) ** 2).sum())
    assert found["r2"] == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2)


def test_a_perfect_line():
    found = regressions.regression(X, 3 + 0.5 * X, 0.95)
    assert [found[name] for name in ("slope", "intercept", "r2")] == pytest.approx([0.5, 3, 1])


def test_noise_predicts_nothing():
    generator = np.random.default_rng(0)
    found = [
        regressions.regression(generator.normal(size=12), generator.normal(size=12), 0.95) for _ in range(400)
    ]
    assert np.mean([row["p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([row["slope_low"] <= 0 <= row["slope_high"] for row in found]) == pytest.approx(
        0.95, abs=0.03
    )


def test_too_few_or_bad_points_are_refused():
    with pytest.raises(PolyrewardError, match="regression over 4 reward models"):
        regressions.regression(X[:4], Y[:4], 0.95)
    with pytest.raises(PolyrewardError, match="regression over 8"):
        regressions.regression(np.append(X[:7], np.nan), Y, 0.95)


def test_a_constant_has_no_slope():
    found = regressions.regression(np.full(8, 25.0), Y, 0.95)
    assert found["n"] == 8 and np.isnan(found["slope"]) and np.isnan(found["r2"])


@pytest.mark.parametrize(
    ("first", "second", "between", "n", "z"),
    [(0.0228, 0.3522, 0.3718, 553, -7.1345), (0.2493, 0.3395, 0.4082, 553, -2.0660)],
)
def test_steigers_z_is_that_of_the_r_package_cocor(first, second, between, n, z):
    found = regressions.steiger(first, second, between, n)
    assert found["z"] == pytest.approx(z, abs=2e-3)  # its inputs are printed with four digits
    assert found["z_p"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.02)


def test_the_test_is_symmetric_and_finds_nothing_between_equals():
    one, other = regressions.steiger(0.7, 0.2, 0.3, 16), regressions.steiger(0.2, 0.7, 0.3, 16)
    assert one["z"] == pytest.approx(-other["z"])
    equal = regressions.steiger(0.5, 0.5, 0.3, 16)
    assert equal["z_p"] == 1
    # what two benchmarks have in common sharpens the test
    assert one["z_p"] < regressions.steiger(0.7, 0.2, -0.3, 16)["z_p"]


def test_the_test_keeps_its_level():
    """Both correlations are 0.5 in truth, with a common part: 5% of samples differ by the test."""
    generator = np.random.default_rng(1)
    covariance = np.array([[1, 0.5, 0.5], [0.5, 1, 0.3], [0.5, 0.3, 1]])
    found = []
    for _ in range(1000):
        r = np.corrcoef(generator.multivariate_normal(np.zeros(3), covariance, size=16).T)
        found.append(regressions.steiger(r[0, 1], r[0, 2], r[1, 2], 16))
    assert np.mean([row["z_p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.025)


def test_benchmarks_that_are_one_and_the_same_have_no_test():
    found = regressions.steiger(0.5, 0.5, 1.0, 16)
    assert np.isnan(found["z"]) and found["r_between"] == 1
    assert np.isnan(regressions.steiger(float("nan"), 0.5, 0.2, 16)["z_p"])


def test_the_table_has_a_row_for_each_policy_rating_and_benchmark():
    points = pd.DataFrame({"policy": ["p"] * 8 + ["q"] * 8, "chrf": [*Y, *Y[::-1]], "match": [*X, *Y], "carb": [*X, *X],
                           "rewardbench": [*(X + Y), *(Y - X)], "base": [*"abcdefgh"] * 2})  # fmt: skip
    points = points.assign(downstream="ours", selection="best-of-n", **dict.fromkeys(ERRORS, 1.0))
    found = regressions.correlation_table(points, Interval(100, 0.95, 1))
    assert list(found.columns) == CORRELATION_COLUMNS and len(found) == 8
    first, second = found[(found["policy"] == "p") & (found["rating"] == "chrf")].itertuples()
    assert first.r2 == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2) == pytest.approx(first.r_first**2)
    assert second.r2 == pytest.approx(first.r_second**2) and np.isnan(second.z)
    assert first.r_between == pytest.approx(np.corrcoef(X, X + Y)[0, 1])
    assert first.n_bases == 8 and first.verdict == "correlate"
    assert first.reliability_rating == pytest.approx(1 - 1 / Y.var(ddof=1))
    shown = display_correlations(found)
    assert list(shown["bases"]) == ["8"] * 8 and shown.loc[0, "verdict"] == "correlate"


def rows_of(bases, rating=Y):
    return pd.DataFrame({"chrf": rating, "carb": X, "base": bases, "chrf_se": 0.0, "carb_se": 0.0})


@pytest.mark.parametrize(
    ("bases", "rating", "verdict"),
    [
        ("abcdefgh", Y, "correlate"),
        ("abcdefgh", Y[::-1], "not decided"),
        ("abcdefga", Y, "not decided: fewer than 8 bases (7)"),
        ("aabbaabb", Y, "not decided: fewer than 8 bases (2)"),
        ("abcdefgh", np.full(8, 2.0), "not decided: scores do not differ"),
    ],
)
def test_reward_models_of_few_bases_decide_nothing(bases, rating, verdict):
    found = regressions.by_base(rows_of([*bases], rating), "chrf", "carb", Interval(100, 0.95, 1))
    assert found["verdict"] == verdict and found["n_bases"] == len(set(bases))


def test_kin_stay_together_when_values_are_permuted():
    values, bases = [1.0, 2.0, 3.0, 10.0, 20.0, 30.0], [*"aaabbb"]
    drawn = permuted_by_base(values, bases, 1, "test")
    assert drawn.shape == (PERMUTATIONS, 6)
    np.testing.assert_allclose(drawn.sum(axis=1), sum(values))
    halves = np.sort(drawn.reshape(-1, 2, 3), axis=2)
    a_first = np.abs(halves[:, 0] - [1, 2, 3]).max(axis=1) < 1e-9  # a's mean 2 and rest -1, 0, 1
    b_first = np.abs(halves[:, 0] - [19, 20, 21]).max(axis=1) < 1e-9  # b's mean 20, the rest is a's own
    assert (a_first | b_first).all() and a_first.mean() == pytest.approx(0.5, abs=0.05)
    assert len(np.unique(drawn.round(9), axis=0)) == 2 * 6 * 6
    np.testing.assert_array_equal(drawn, permuted_by_base(values, bases, 1, "test"))
    assert not np.array_equal(drawn, permuted_by_base(values, bases, 2, "test"))


def test_correlations_of_many_are_numpy_s():
    drawn = np.stack([Y, Y[::-1], np.full(8, 3.0)])
    found = correlations_with(drawn, pd.DataFrame({"one": X, "other": X**2}))
    known = [[np.corrcoef(row, x)[0, 1] for x in (X, X**2)] for row in drawn[:2]]
    np.testing.assert_allclose(found, [*known, [0, 0]])


def test_p_counts_the_correlation_itself():
    assert regressions.permutation_p(0.5, np.array([0.1, -0.5, 0.6, 0.2])) == pytest.approx(3 / 5)
    assert regressions.permutation_p(0.9, np.zeros(19)) == pytest.approx(1 / 20)


def test_the_test_over_bases_keeps_its_level_where_kin_are_alike():
    """Nine bases of four reward models that have most of both scores in common: 5% are decided, not 40% as
    over models."""
    generator, bases = np.random.default_rng(3), np.repeat(np.arange(9), 4)
    found = {"by base": [], "ungrouped": []}
    for number in range(120):
        x, y = (generator.normal(size=9)[bases] + 0.3 * generator.normal(size=36) for _ in range(2))
        for name, groups in (("by base", bases), ("ungrouped", np.arange(36))):
            permuted = correlations_with(permuted_by_base(y, groups, number, "level"), pd.DataFrame({"x": x}))
            found[name].append(regressions.permutation_p(np.corrcoef(x, y)[0, 1], permuted) < 0.05)
    assert np.mean(found["by base"]) == pytest.approx(0.05, abs=0.045)
    assert np.mean(found["ungrouped"]) > 0.2


@pytest.mark.parametrize(("errors", "expected"), [(0.0, 1.0), (1.0, 0.75), (2.0, 0.0), (3.0, 0.0)])
def test_reliability(errors, expected):
    values = np.array([0.0, 2.0, 4.0])  # variance 4
    assert reliability(values, np.full(3, errors)) == pytest.approx(expected)
    assert np.isnan(reliability([5.0, 5.0], [1.0, 1.0]))


def test_reliability_is_the_squared_correlation_with_what_is_measured():
    generator = np.random.default_rng(5)
    truth = generator.normal(size=20000)
    measured = truth + 0.5 * generator.normal(size=20000)
    assert reliability(measured, np.full(20000, 0.5)) == pytest.approx(
        np.corrcoef(truth, measured)[0, 1] ** 2, abs=0.01
    )
