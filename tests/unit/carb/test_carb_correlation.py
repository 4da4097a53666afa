"""Regressions over reward models, the test that two correlations differ, permutations, and Figures 4 and 5."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support import refused, script

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts.figures import COLUMN_WIDTH, TEXT_WIDTH
from polyreward.carb.downstream.correlation import (
    BEFORE,
    BENCHMARKS,
    CORRELATION_COLUMNS,
    ERRORS,
    PERMUTATIONS,
    POINT_COLUMNS,
    correlations_with,
    over_sets,
    permuted_by_base,
    reliability,
)
from polyreward.carb.figures import figure5

regressions = script("analyse/carb_regressions")
figure4 = script("artifacts/carb_figure4")
display_correlations = script("artifacts/carb_correlation").display_correlations

X = np.array([24.0, 31.5, 28.2, 40.1, 35.0, 22.8, 37.3, 30.9])
Y = np.array([11.2, 15.9, 12.1, 21.4, 14.8, 12.9, 19.0, 13.3])
INTERVAL = Interval(100, 0.95, 1)


def test_the_regression_by_hand():
    """Least squares and its interval from the normal equations, in numpy."""
    found = regressions.regression(X, Y, 0.95)
    n, design = len(X), np.column_stack([np.ones_like(X), X])
    inverse = np.linalg.inv(design.T @ design)
    intercept, slope = inverse @ design.T @ Y
    squares = np.sum((Y - intercept - slope * X) ** 2)
    error = np.sqrt(squares / (n - 2) * inverse[1, 1])
    reach, p = stats.t.ppf(0.975, n - 2) * error, 2 * stats.t.sf(abs(slope / error), n - 2)
    r2 = np.corrcoef(X, Y)[0, 1] ** 2
    assert list(found.values()) == pytest.approx([n, slope, slope - reach, slope + reach, intercept, p, r2])


def test_too_few_or_bad_points_are_refused_and_a_constant_has_no_slope():
    assert "regression over 4 reward models" in refused(regressions.regression, X[:4], Y[:4], 0.95)
    assert "regression over 8" in refused(regressions.regression, np.append(X[:7], np.nan), Y, 0.95)
    found = regressions.regression(np.full(8, 25.0), Y, 0.95)
    assert found["n"] == 8 and np.isnan(found["slope"]) and np.isnan(found["r2"])


@pytest.mark.parametrize(
    ("first", "second", "between", "z"),
    [(0.0228, 0.3522, 0.3718, -7.1345), (0.2493, 0.3395, 0.4082, -2.0660)],
)
def test_steigers_z_is_that_of_the_r_package_cocor(first, second, between, z):
    found = regressions.steiger(first, second, between, 553)
    assert found["z"] == pytest.approx(z, abs=2e-3)  # its inputs are printed with four digits
    assert found["z_p"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.02)


def test_the_test_keeps_its_level_and_none_is_made_of_benchmarks_that_are_the_same():
    """Both correlations are 0.5 in truth, with a common part: 5% of samples differ by the test."""
    generator = np.random.default_rng(1)
    covariance = np.array([[1, 0.5, 0.5], [0.5, 1, 0.3], [0.5, 0.3, 1]])
    found = []
    for _ in range(1000):
        r = np.corrcoef(generator.multivariate_normal(np.zeros(3), covariance, size=16).T)
        found.append(regressions.steiger(r[0, 1], r[0, 2], r[1, 2], 16))
    assert np.mean([row["z_p"] < 0.05 for row in found]) == pytest.approx(0.05, abs=0.025)
    same = regressions.steiger(0.5, 0.5, 1.0, 16)
    assert np.isnan(same["z"]) and same["r_between"] == 1
    assert np.isnan(regressions.steiger(float("nan"), 0.5, 0.2, 16)["z_p"])


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
    rows = pd.DataFrame({"chrf": rating, "carb": X, "base": [*bases], "chrf_se": 0.0, "carb_se": 0.0})
    found = regressions.by_base(rows, "chrf", "carb", INTERVAL)
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


def test_correlations_of_many_are_numpy_s_and_p_counts_the_correlation_itself():
    found = correlations_with(
        np.stack([Y, Y[::-1], np.full(8, 3.0)]), pd.DataFrame({"one": X, "other": X**2})
    )
    known = [[np.corrcoef(row, x)[0, 1] for x in (X, X**2)] for row in (Y, Y[::-1])]
    np.testing.assert_allclose(found, [*known, [0, 0]])
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


def points(
    ratings: dict, bounds=("oracle", "random"), count=9, *, of="short", selection="best-of-n", policy="all"
) -> pd.DataFrame:
    """A row for each of some reward models of as many bases; ratings: {rating: slope on CARB's score}."""
    n = np.arange(count)
    table = pd.DataFrame({"scorer": [f"m{i}" for i in n], "base": [f"b{i}" for i in n], "kind": "classifier", "carb": 20.0 + n,
                          "rewardbench": 50.0 + n % 3, "match": np.nan, "chrf": np.nan})  # fmt: skip
    table = table.assign(**{name: slope * n + 0.1 * (n % 2) for name, slope in ratings.items()})
    rows = [
        {"scorer": bound, "kind": "bound", **dict.fromkeys(ratings, 9.0 + n)}
        for n, bound in enumerate(bounds)
    ]
    whose = {"downstream": of, "selection": selection, "policy": policy, "n_questions": 4, "n_candidates": 16}
    return pd.concat([table, pd.DataFrame(rows)]).assign(**whose, **dict.fromkeys(ERRORS, 0.1))[POINT_COLUMNS]


def several() -> pd.DataFrame:
    return pd.concat([
        points({"match": 2.0, "chrf": 1.0}),
        points({"chrf": -1.0}, count=6, of="open"),
        points({"match": 1.0, "chrf": 1.0}, (BEFORE,), 3, selection="grpo"),
    ])  # fmt: skip


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    return regressions.correlation_table(table.query("kind != 'bound'"), INTERVAL)


def test_the_correlations_say_which_set_selection_rating_and_benchmark_they_are_of():
    found = correlations(several())
    assert list(found.columns) == CORRELATION_COLUMNS
    keys = found[["downstream", "selection", "rating", "benchmark"]].itertuples(index=False, name=None)
    assert list(keys) == [
        *(("short", "best-of-n", rating, benchmark) for rating in ("match", "chrf") for benchmark in BENCHMARKS),
        *(("open", "best-of-n", "chrf", benchmark) for benchmark in BENCHMARKS),  # it has no accepted answer
        *(("short", "grpo", rating, benchmark) for rating in ("match", "chrf") for benchmark in BENCHMARKS),
    ]  # fmt: skip
    few = found[found["selection"] == "grpo"]
    assert few["slope"].isna().all() and set(few["n"]) == {3}
    assert set(few["verdict"]) == {"not decided: 3 reward models"}
    assert set(correlations(points({"chrf": 1.0}, count=3))["verdict"]) == set(few["verdict"])
    shown = display_correlations(found)
    assert shown.loc[[0, 4], "bases"].tolist() == ["9", "6"] and shown.loc[0, "verdict"] == "correlate"
    small = display_correlations(found.assign(p=3e-9, p_permuted=0.0004, z_p=0.0, r2=0.0))
    assert small.loc[0, ["p", "p by base", "p of z", "r2"]].tolist() == [
        "<0.001",
        "<0.001",
        "<0.001",
        "0.000",
    ]
    # each row by hand, and the test of the two benchmarks in the first one's
    rows = several().query("downstream == 'short' and selection == 'best-of-n' and kind == 'classifier'")
    r = rows[["match", *BENCHMARKS]].astype(float).corr()
    first, second = found.iloc[:2].itertuples()
    assert first.r2 == pytest.approx(r.loc["match", "carb"] ** 2) == pytest.approx(first.r_first**2)
    assert second.r2 == pytest.approx(first.r_second**2) and np.isnan(second.z)
    assert first.r_between == pytest.approx(r.loc["carb", "rewardbench"])
    assert (first.n_bases, first.slope) == (9, pytest.approx(2, abs=0.01))
    assert first.reliability_rating == pytest.approx(1 - 0.01 / rows["match"].var())
    assert found.iloc[4]["slope"] == pytest.approx(-1, abs=0.01)


def test_the_claims_take_the_mean_over_sets_of_each_one_s_rating():
    found = over_sets(several().query("kind != 'bound'"), "match").set_index("scorer")
    assert len(found) == 9 and found.loc["m4", "match"] == pytest.approx((2 * 4 - 4) / 2)
    assert found.loc["m4", "match_se"] == pytest.approx(0.1)
    without = several().query("selection == 'grpo'")
    assert "no best-of-N row for all policies" in refused(over_sets, without, "match")


def test_figure_5_has_a_row_for_each_set_and_selection_by_the_set_s_own_rating():
    table, columns = figure5.plotted(pd.concat([several(), several().assign(policy="p")]), "match")
    assert columns[:3] == ["downstream", "selection", "policy"] and list(table.columns) == columns
    assert set(table["policy"]) == {"all"} and columns[5:9] == [*BENCHMARKS, "match", "chrf"]
    assert "match" not in figure5.plotted(several(), "chrf")[1]  # chrf is the rating of every set
    missing = table.groupby("downstream")[["match", "chrf"]].agg(lambda column: column.isna().all())
    assert missing.loc["short", "chrf"] and missing.loc["open", "match"]
    axes = figure5.draw_rows(table, correlations(several()), "match", 0.95).axes
    titles = [axis.get_title() for axis in axes]
    assert len(titles) == 6 and titles[0].startswith("short, best of 16\nr² = 1.000, p = 0.0005, n = 9")
    assert titles[2].startswith("open, best of 16\nr² = ") and "not decided, n = 6 (6 bases)" in titles[2]
    assert titles[4] == "short, trained by GRPO\nnot decided, n = 3 (3 bases)"
    names = ["accepted answers (%)", "chrF of the answers", "accepted answers (%)"]
    assert [axis.get_ylabel() for axis in axes[::2]] == names
    models = table[(table["downstream"] == "open") & (table["kind"] == "classifier")]
    np.testing.assert_allclose(axes[2].collections[0].get_offsets(), models[["carb", "chrf"]])
    lines = {line.get_label(): line for line in axes[2].lines}
    drawn = np.polyfit(lines["least squares"].get_xdata(), lines["least squares"].get_ydata(), 1)
    assert drawn == pytest.approx(np.polyfit(models["carb"], models["chrf"], 1))
    picks = {label: line.get_ydata()[0] for label, line in lines.items() if "pick" in label}
    assert picks == {"oracle pick": 9, "random pick": 10}
    assert [line.get_label() for line in axes[4].lines] == [BEFORE]


def test_the_band_is_the_lines_own_interval():
    """At the mean of x its half-width is t times the residual deviation over the root of n."""
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 3, 2, 5, 4, 6])
    low, high = figure5.band(x, y, np.array([x.mean(), x.mean() + 1]), 0.95)
    residuals = y - np.polyval(np.polyfit(x, y, 1), x)
    expected = 2.7764451 * np.sqrt(residuals @ residuals / 4) / np.sqrt(6)
    assert (high[0] - low[0]) / 2 == pytest.approx(expected)


def of_policies(**changes) -> pd.DataFrame:
    """Return points of six reward models for each policy."""
    slopes = {"p": 1.0, "q": -1.0, "all": 0.3}
    found = [points({"chrf": slope}, count=6, policy=policy) for policy, slope in slopes.items()]
    return pd.concat(found).assign(**changes)


def marks(axis) -> list:
    """Return the lines that are points of a benchmark, without those of the legend."""
    return [line for line in axis.lines if line.get_marker() in ("o", "s") and len(line.get_xdata())]


def drawn_marks(axis) -> set[tuple[float, float]]:
    every = [place for line in marks(axis) for place in line.get_xydata()]
    return {(round(x, 2), round(y, 6)) for x, y in every if np.isfinite(y)}


def test_figure_4_has_each_policy_on_its_axis_and_both_benchmarks_with_intervals():
    table = figure4.plotted(correlations(of_policies()), "chrf")
    axis = figure4.draw_correlations(table, "95%").axes[0]
    labels = [label.get_text().split("\n") for label in axis.get_xticklabels()]
    assert labels == [[name, "n = 6", "(6 bases)"] for name in ("p", "q", "all policies")]
    at = {"carb": -figure4.SPREAD, "rewardbench": figure4.SPREAD}
    models = of_policies().query("kind != 'bound'").groupby("policy", sort=False)
    assert drawn_marks(axis) == {
        (round(place + at[benchmark], 2), round(np.corrcoef(rows[benchmark], rows["chrf"])[0, 1], 6))
        for place, (_, rows) in enumerate(models)
        for benchmark in at
    }
    assert {line.get_markerfacecolor() for line in marks(axis)} == {"white"}  # six bases decide nothing
    r, low, high = table.loc[table["benchmark"] == "carb", ["r", "r_low", "r_high"]].iloc[0]
    reach = 1.959964 / np.sqrt(3)  # Fisher's, of six bases
    assert np.arctanh([low, high]) == pytest.approx(np.arctanh(r) + np.array([-reach, reach]))


def test_figure_4_of_few_bases_has_no_interval_and_of_many_policies_both_columns():
    found = correlations(of_policies(base="one"))
    figure = figure4.draw_correlations(figure4.plotted(found, "chrf"), "95%")
    assert "no 95% interval" in figure.axes[0].get_ylabel() and figure.get_figwidth() == COLUMN_WIDTH
    one = figure4.draw_correlations(figure4.plotted(found[found["policy"] != "q"], "chrf"), "95%")
    assert [label.get_text().split("\n")[0] for label in one.axes[0].get_xticklabels()] == ["p"]
    more = pd.concat([found, found[found["policy"] == "p"].assign(policy="another-policy")])
    assert figure4.draw_correlations(figure4.plotted(more, "chrf"), "95%").get_figwidth() == TEXT_WIDTH


def test_a_regression_without_a_slope_draws_only_its_points():
    flat = of_policies(carb=25.0)
    found = correlations(flat)
    axes = figure5.draw_rows(figure5.plotted(flat, "chrf")[0], found, "chrf", 0.95).axes
    assert [line.get_label() for line in axes[0].lines] == ["oracle pick", "random pick"]
    assert "least squares" in [line.get_label() for line in axes[1].lines]
    nearly = flat.assign(chrf=10 + flat["chrf"] * 1e-6)
    axes = figure5.draw_rows(figure5.plotted(nearly, "chrf")[0], correlations(nearly), "chrf", 0.95).axes
    assert np.ptp(axes[0].get_ylim()) == pytest.approx(figure5.NARROWEST)
    found = figure4.plotted(found, "chrf")
    assert found.loc[found["benchmark"] == "carb", ["r", "r_low"]].isna().all().all()
    assert len(drawn_marks(figure4.draw_correlations(found, "95%").axes[0])) == 3  # of the other benchmark
