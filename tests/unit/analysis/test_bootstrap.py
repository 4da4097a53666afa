"""The paired bootstrap over templates."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from polyreward.analysis.bootstrap import (
    Between,
    Interval,
    between_trainings,
    combined_freedom,
    degrees_of_freedom,
    effective_units,
    exact_p,
    resampled_means,
    resampled_sections,
    share_interval,
    student_interval,
    with_trainings,
)

HALF_RIGHT = np.repeat([1.0, 0.0], 50)[:, None]  # 100 pairs of one scorer


def resampled(correct, templates, samples=2000, seed=0):
    """Resample one subset in one section."""
    correct = np.asarray(correct, float)
    return resampled_sections(correct, ["u"] * len(correct), templates, {"u": 1}, {"s": ["u"]}, samples, seed)


@pytest.mark.parametrize(
    ("variance", "freedom", "between", "expected"),
    [
        (1.0, 9, [], 9),
        (1.0, 9, [(0.0, 0.0, 2)], 9),  # nothing is found
        (1.0, 2, [(1.0, 1.0, 2)], 4),  # Welch's, of two samples of three that spread alike
        (3.0, 90, [(1.0, 1.0, 2)], 16 / (9 / 90 + 1 / 2)),
        (0.0, 0, [(1.0, 1.0, 2)], 0),
        # What is taken off a variance leaves it as unsure as it was
        (3.0, 90, [(1.0, 2.0, 2)], 16 / (9 / 90 + 4 / 2)),
        (3.0, 90, [(0.0, 2.0, 2)], 90),  # nothing of it is left
        (0.1, 90, [(0.1, 2.0, 2)], 2),  # no interval would have none
    ],
)
def test_degrees_of_freedom_of_sums_of_variances(variance, freedom, between, expected):
    found = combined_freedom(variance, freedom, [Between(*one) for one in between])
    assert found == pytest.approx(expected)


def test_pairs_of_one_template_always_come_together():
    assert np.all(resampled([[1], [0], [1], [0]], ["t"] * 4) == 0.5)


def test_a_draw_is_the_mean_over_its_pairs_not_over_its_templates():
    # template a: 3 right pairs; b and c: 1 wrong pair each. Two are drawn: aa = 1, ab = ac = 3 / 4, and
    # others 0
    drawn = resampled([[1], [1], [1], [0], [0]], ["a", "a", "a", "b", "c"])
    assert set(drawn.ravel().round(9)) == {0.0, 0.75, 1.0}


def test_a_bootstrap_over_pairs_is_narrower_by_the_root_of_the_pairs_per_template():
    of_templates = resampled(np.repeat(HALF_RIGHT, 4, axis=0), np.repeat(np.arange(100), 4), samples=20_000)
    of_pairs = resampled(np.repeat(HALF_RIGHT, 4, axis=0), np.arange(400), samples=20_000)
    assert of_templates.std() == pytest.approx(0.05, rel=0.03)  # sqrt(p (1 - p) / n) = sqrt(1/4 / 100)
    assert of_pairs.std() == pytest.approx(0.025, rel=0.03)  # sqrt(1/4 / 400)


def test_a_section_drawn_as_a_whole_varies_though_each_subset_has_one_template():
    """Known: the mean of 20 templates, half of them right; as ratios within subsets it had no variance."""
    subsets = [f"u{n}" for n in range(20)]
    right = np.repeat([1.0, 0.0], 10)[:, None]
    weights, sections = dict.fromkeys(subsets, 1.0), {"s": subsets, "first": subsets[:10]}
    drawn = resampled_sections(right, subsets, subsets, weights, sections, 20_000, 0, ["s"] * 20)
    assert drawn[:, 0, 0].mean() == pytest.approx(0.5, abs=0.005)
    assert drawn[:, 0, 0].std() == pytest.approx(math.sqrt(0.25 / 19), rel=0.03)
    assert np.all(drawn[:, 0, 1] == 1)  # all of the first ten are right, whichever are drawn
    apart = resampled_sections(right, subsets, subsets, weights, sections, 200, 0)
    assert apart[:, 0, 0] == pytest.approx(0.5)


def test_a_template_weighs_as_its_subset_does_where_a_section_is_drawn_as_a_whole():
    """Known: of two templates one is drawn, twice; one subset weighs three times the other."""
    drawn = resampled_sections(
        np.array([[1.0], [0.0]]),
        ["u", "v"],
        ["a", "b"],
        {"u": 3.0, "v": 1.0},
        {"s": ["u", "v"]},
        200,
        0,
        ["s", "s"],
    )
    assert set(drawn.ravel()) == {0.0, 1.0}
    three = resampled_sections(
        np.array([[1.0], [0.0], [0.0]]), list("uvw"), list("abc"), {"u": 2.0, "v": 1.0, "w": 1.0},
        {"s": list("uvw")}, 2000, 0, ["s"] * 3,
    )  # fmt: skip
    # Two are drawn: aa; ab or ac, 2 of 3 in weight; none of a
    assert set(three.ravel().round(9)) == {1.0, round(2 / 3, 9), 0.0}


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1.0] * 6, 2 / 64),  # six to nothing: two of 64 changes of signs are as far from zero
        ([1.0] * 6 + [0.0] * 18, 2 / 64),  # what does not differ says nothing
        ([1.0] * 5 + [-1.0], 14 / 64),  # one or none on the other side, both ways
        ([-3.0, -2.0, -1.0], 2 / 8),
        ([1.0, -1.0], 1.0),
        ([5.0], 1.0),
        ([0.0, 0.0], 1.0),
        ([1.0] * 13, 0.0),  # many differ, so that resamples tell
    ],
)
def test_an_exact_test_of_few_differences_counts_changes_of_signs(differences, p):
    assert exact_p(np.array(differences)) == pytest.approx(p)


def test_a_scorer_minus_its_copy_is_exactly_zero():
    column = np.random.default_rng(1).integers(0, 2, 60)
    drawn = resampled(np.column_stack([column, column]), np.repeat(np.arange(20), 3))
    assert drawn[:, 0].std() > 0
    assert np.all(drawn[:, 0] - drawn[:, 1] == 0)


def test_draws_depend_on_the_seed_and_not_on_the_order_of_pairs():
    order = np.random.default_rng(5).permutation(100)
    templates = np.array([f"t{n // 2}" for n in range(100)])
    first = resampled(HALF_RIGHT, templates)
    assert np.array_equal(first, resampled(HALF_RIGHT, templates))
    assert np.allclose(first, resampled(HALF_RIGHT[order], templates[order]))
    assert not np.array_equal(first, resampled(HALF_RIGHT, templates, seed=1))


def test_subsets_keep_their_weights_in_every_draw():
    correct = np.array([[0.0], [0.0], [1.0], [1.0]])  # u is all wrong and v all right, whatever is drawn
    subsets, weights = ["u", "u", "v", "v"], {"u": 10.0, "v": 30.0}
    drawn = resampled_sections(correct, subsets, list("abcd"), weights, {"s": ["u", "v"]}, 500, 0)
    assert np.all(drawn == 0.75)  # 30 / (10 + 30)


def test_few_degrees_of_freedom_widen_the_central_interval_to_student_s():
    values, reach = np.append(50, np.arange(101)), 47.5 * 2.3646 / 1.95996
    assert student_interval(values, 0.9, 10**9) == pytest.approx((5, 95))
    assert student_interval(values, 0.95, 7) == pytest.approx((50 - reach, 50 + reach), abs=1e-3)


def test_without_degrees_of_freedom_there_is_no_interval():
    ends = student_interval(np.arange(5.0), 0.95, 0)
    # As the ends of other estimates
    assert np.isnan(ends).all() and all(isinstance(end, float) for end in ends)
    assert np.isnan(share_interval(np.ones(9), 0.95, 0, 1)).all()


def drawn_like(right: int, units: int) -> np.ndarray:
    """Return a share and two resamples with the variance of its mean."""
    share = right / units
    return share + np.array([0, 1, -1]) * np.sqrt(share * (1 - share) / (units - 1))


def test_a_share_of_few_units_has_one_more_at_each_end():
    reach = 1.96 * np.sqrt(0.9) / 10
    assert share_interval(np.ones(9), 0.95, 7, 8) == pytest.approx((0.9 - reach, 1), abs=1e-5)  # 9 of 10
    # 6 of 8: 0.7 of 10, and a variance of 8 * (0.1875 * 8 / 7 + 0.05^2) + 0.7^2 + 0.3^2 over 10^2
    low, high = share_interval(drawn_like(6, 8), 0.95, 7, 8)
    assert (low, high) == pytest.approx((0.7 - 1.96 * 0.15213, 0.7 + 1.96 * 0.15213), abs=1e-4)


def test_a_difference_of_few_units_has_half_a_one_in_each_cell():
    ends = share_interval(np.zeros(9), 0.95, 7, 8, -1)
    assert ends == pytest.approx((-0.196, 0.196), abs=1e-4)  # 1.96 / 10
    # 8 of 8 and none: 0.8, and 8 * 0.2^2 + (1.8^2 + 0.2^2) / 2 + 0.8^2
    ends = share_interval(np.ones(9), 0.95, 7, 8, -1)
    assert ends == pytest.approx((0.8 - 0.196 * np.sqrt(2.6), 1), abs=1e-4)


def test_few_units_in_several_strata_have_a_larger_variance():
    # 6 of 8 in two strata: 0.7 of 10, and a variance of 8 * (0.1875 * 8 / 7 * 7 / 6 + 0.05^2) + 0.7^2 + 0.3^2
    # over 10^2
    reach = 1.96 * np.sqrt(8 * (0.25 + 0.0025) + 0.58) / 10
    assert share_interval(drawn_like(6, 8), 0.95, 6, 8) == pytest.approx((0.7 - reach, 1), abs=1e-4)
    # with two trainings of each model no more than Student's widening: (2.776 / 1.96)^2 is 2.006
    variance = 15 * (2.006 * 8 / 15 * 7 / 14 + (8 / 15 - 9 / 17) ** 2) + (9 / 17) ** 2 + (8 / 17) ** 2
    width = np.diff(share_interval(drawn_like(8, 15), 0.95, 4, 15))
    assert width == pytest.approx(2 * 1.96 * np.sqrt(variance) / 17, abs=1e-3)


def test_many_units_have_the_interval_of_their_resamples():
    values = np.append(0.5, np.random.default_rng(0).normal(0.5, 0.09, 1000))
    assert share_interval(values, 0.95, 31, 32) == student_interval(values, 0.95, 31)
    assert share_interval(drawn_like(27, 32), 0.95, 31, 32) == student_interval(drawn_like(27, 32), 0.95, 31)
    assert share_interval(values, 0.95, 14, 15) != student_interval(values, 0.95, 14)


def test_many_units_that_are_nearly_all_alike_have_the_interval_of_few():
    low, high = share_interval(drawn_like(30, 32), 0.95, 31, 32)
    assert high - low > np.subtract(*student_interval(drawn_like(30, 32), 0.95, 31)[::-1])
    low, high = share_interval(np.ones(9), 0.95, 31, 32)
    assert 0.85 < low < 0.95 and high == 1


def test_resamples_that_are_all_alike_have_a_width_too():
    # of strata that are each all right or all wrong: 4 of 8 is a half of 10, and a variance of 0.5^2 + 0.5^2
    # over 10^2
    reach = 1.96 * np.sqrt(0.5) / 10
    assert share_interval(np.full(9, 0.5), 0.95, 6, 8) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-4)


@pytest.mark.parametrize("units", range(4, 13))
def test_of_few_units_the_interval_holds_the_share_as_often_as_it_says(units):
    rights, shares = np.arange(units + 1), np.linspace(0.5, 0.95, 46)
    ends = np.array([share_interval(drawn_like(right, units), 0.95, units - 1, units) for right in rights])
    held = (ends[:, :1] <= shares) & (shares <= ends[:, 1:])
    coverage = (binom.pmf(rights[:, None], units, shares) * held).sum(axis=0)
    assert 0.95 < coverage.mean() < 0.98 and coverage.min() > 0.87  # whole numbers of right ones go by steps


def test_units_of_unlike_weight_are_worth_fewer():
    assert effective_units([1, 1, 1]) == effective_units([5, 5, 5]) == pytest.approx(3)
    assert effective_units([1, 1, 2, 0]) == pytest.approx(16 / 6)


def test_resamples_have_the_whole_variance_of_a_mean():
    values = np.array([0.0, 0, 1, 1, 1])  # a plain bootstrap has 4 / 5 of it
    drawn = resampled_means(values, Interval(200_000, 0.95, 1), "test")
    assert drawn.mean() == pytest.approx(0.6, abs=0.005)
    assert drawn.var() == pytest.approx(values.var(ddof=1) / 5, rel=0.02)


def test_clusters_that_cross_subsets_are_drawn_together():
    correct = np.array([[0.0], [1.0], [0.0], [1.0]])  # topics a and b, asked in two places
    weights, sections = {"u": 2, "v": 2}, {"u": ["u"], "v": ["v"]}
    drawn = resampled_sections(correct, list("uuvv"), list("abab"), weights, sections, 300, 0, ["all"] * 4)
    assert np.array_equal(drawn[:, 0, 0], drawn[:, 0, 1]) and set(drawn.ravel()) == {0.0, 1.0}


def test_a_subset_none_of_whose_clusters_is_drawn_counts_with_its_own_score():
    correct, weights = np.array([[1.0], [0.0], [0.0], [1.0]]), {"u": 1, "v": 3}
    drawn = resampled_sections(
        correct, list("uvvv"), list("abcd"), weights, {"u": ["u"]}, 300, 0, ["all"] * 4
    )
    assert np.all(drawn == 1.0)


def test_degrees_of_freedom_are_clusters_less_strata():
    assert degrees_of_freedom(list("uuuvv"), list("aabcd")) == 1 + 1
    assert degrees_of_freedom(list("uuv"), list("abc")) == 0  # of one cluster nothing is known
    assert degrees_of_freedom([], []) == 0


def test_trainings_alone_make_an_interval_where_units_are_all_alike():
    scores = np.tile([0.4, 0.5, 0.6], (401, 1))
    between = between_trainings(scores)
    values, freedom = with_trainings(scores.mean(axis=1), 9, [between])
    assert freedom == 2
    low, high = student_interval(values, 0.95, freedom)
    reach = student.isf(0.025, 2) * 0.1 / math.sqrt(3)
    assert (values[0], high - values[0], values[0] - low) == pytest.approx((0.5, reach, reach), rel=0.02)
