"""Verdicts of known intervals, and intervals of known draws."""

import dataclasses

import numpy as np
import pytest

from polyreward.analysis.verdicts import (
    FAILS,
    HOLDS,
    NOT_ALL,
    SMALLER,
    UNDECIDED,
    Contrasts,
    Rule,
    beyond,
    constant,
    extreme,
    from_correlations,
    from_draws,
    from_normal,
    from_permutations,
    from_shares,
    holds_beyond,
    leaning,
    less,
    p_beyond,
    p_value,
    verdict,
    without_variance,
)

ABOVE, BELOW = Rule("above", 0, 0), Rule("below", 0.2, 0)
TIE = Rule("above", 0, 2)
THREE = Rule("above", 3, 0)
MANY = 10**9  # degrees of freedom


def within(*ends):
    """Return contrasts whose intervals have these (low, high) ends at any confidence."""
    lows, highs = np.array(ends, dtype=float).T
    return Contrasts((lows + highs) / 2, lambda confidence: (lows, highs))


@pytest.mark.parametrize(
    ("low", "high", "rule", "expected"),
    [
        (1, 3, ABOVE, HOLDS),
        (-3, -1, ABOVE, FAILS),
        (-1, 3, ABOVE, UNDECIDED),
        (0, 3, ABOVE, UNDECIDED),
        (-3, 0, ABOVE, UNDECIDED),
        (0, 0, ABOVE, UNDECIDED),
        (0.0, 0.1, BELOW, HOLDS),
        (0.3, 0.4, BELOW, FAILS),
        (0.1, 0.3, BELOW, UNDECIDED),
        (1, 2, THREE, SMALLER),
        (-1, 2, THREE, SMALLER),
        (-2, -1, THREE, FAILS),
        (-5, -5, ABOVE, UNDECIDED),
        (5, 5 + 1e-13, ABOVE, UNDECIDED),  # rounding is no width
        (-1, 1, TIE, HOLDS),
        (-3, 1, TIE, UNDECIDED),
        (-9, -3, TIE, FAILS),
        (np.nan, np.nan, ABOVE, UNDECIDED),
        (np.nan, np.nan, BELOW, UNDECIDED),
    ],
)
def test_a_verdict_follows_the_interval_and_the_bound(low, high, rule, expected):
    assert verdict(within((low, high)), rule, 0.95) == expected


def test_a_claim_of_several_contrasts_fails_only_where_all_are_against_it():
    assert verdict(within((1, 2), (1, 3)), ABOVE, 0.95) == HOLDS
    assert verdict(within((-2, -1), (-3, -1)), ABOVE, 0.95) == FAILS
    assert verdict(within((-2, -1), (1, 2)), ABOVE, 0.95) == NOT_ALL
    assert verdict(within((-2, -1), (-2, 2)), ABOVE, 0.95) == NOT_ALL
    assert verdict(within((-2, 2), (1, 2)), ABOVE, 0.95) == UNDECIDED


def of_draws(point, draws):
    """Return one contrast from its draws."""
    return from_draws(np.array([point, *draws])[:, None], MANY)


# A hundredth of 1000 is below zero
TIES = of_draws(1.0, np.repeat([-1.0, 0.5, 1.0, 3.0], [10, 90, 800, 100]))


@pytest.mark.parametrize(
    ("contrasts", "expected"),
    [
        (from_normal(1.959964, 1.0), pytest.approx(0.05, rel=1e-2)),
        (from_normal(-2.5758, 1.0), pytest.approx(0.01, rel=1e-2)),
        (from_normal(0.0, 1.0), 1),
        (within((1, 1)), 1),  # without width
        (within((np.nan, np.nan)), pytest.approx(np.nan, nan_ok=True)),
        (TIES, pytest.approx(0.02, rel=0.05)),
        (of_draws(1.5, np.linspace(1, 2, 399)), 2 / 400),  # no less than resamples can show
    ],
)
def test_p_is_where_the_verdict_turns(contrasts, expected):
    assert p_value(contrasts, ABOVE) == expected


def test_draws_with_many_ties_hold():
    assert verdict(TIES, ABOVE, 0.95) == HOLDS


def of_errors(*errors):
    """Return contrasts at 5 with these standard errors, whose intervals are all from 4 to 6."""
    draws = np.linspace(-1, 1, 401)[:, None] * errors
    drawn = from_draws(5 + np.vstack([np.zeros(len(errors)), draws]), MANY)
    known = np.full(len(errors), 4.0), np.full(len(errors), 6.0)
    return dataclasses.replace(drawn, ends=lambda confidence: known)


SEVEN = Rule("above", 7, 0)


@pytest.mark.parametrize("none", [0.0, 1e-12, np.nan])
def test_a_contrast_without_variance_decides_nothing(none):
    assert [verdict(of_errors(1.0), rule, 0.95) for rule in (ABOVE, BELOW)] == [HOLDS, FAILS]
    assert [verdict(of_errors(none), rule, 0.95) for rule in (ABOVE, BELOW, SEVEN)] == [UNDECIDED] * 3
    assert p_value(of_errors(none), ABOVE) == 1 and leaning(of_errors(none), ABOVE) == ""
    assert not holds_beyond(of_errors(none), ABOVE, 0.95) and p_beyond(of_errors(none), ABOVE) == 1
    # One of two keeps a claim about both from holding and from failing, and not the other from refuting it
    both = of_errors(none, 1.0)
    assert [verdict(both, rule, 0.95) for rule in (ABOVE, BELOW)] == [UNDECIDED, NOT_ALL]
    assert without_variance(both).tolist() == [True, False]


def test_an_exact_test_bounds_p_where_few_units_differ():
    """Known: six to nothing of 24 units cannot give less than 2 / 64, five to nothing not less than 2 / 32."""
    units = np.zeros(24)
    for count, p, expected in ((6, 2 / 64, HOLDS), (5, 2 / 32, UNDECIDED)):
        differences = units.copy()
        differences[:count] = 100 / 24
        drawn = differences.sum() + np.concatenate([[0], np.linspace(-3, 3, 999)])  # as sure as can be
        found = from_shares(drawn[:, None], 23, [24], [differences])
        assert verdict(found, ABOVE, 0.95) == expected
        assert p_value(found, ABOVE) == pytest.approx(p, rel=0.01)
        alone = from_shares(drawn[:, None], 23, [24])
        assert verdict(alone, ABOVE, 0.95) == HOLDS and p_value(alone, ABOVE) < p


def test_contrasts_that_are_not_drawn_have_no_standard_error_and_still_decide():
    assert verdict(from_normal(5.0, 1.0), ABOVE, 0.95) == HOLDS
    assert without_variance(from_normal(5.0, 1.0)).tolist() == [False]


def test_jointly_drawn_contrasts_have_a_difference_without_what_they_share():
    shared, own = np.random.default_rng(2).normal(size=(2, 4001, 1))
    one, other = from_draws(5 + 9 * shared + own, 30), from_draws(np.hstack([2 + 9 * shared, 9 * shared]), 20)
    found = less(one, other)
    np.testing.assert_allclose(found.drawn.values, np.hstack([3 + own, 5 + own]))
    assert found.drawn.freedom == 20
    assert (verdict(one, ABOVE, 0.95), verdict(found, ABOVE, 0.95)) == (UNDECIDED, HOLDS)
    assert less(one, from_draws(9 * shared, 30)).drawn.values == pytest.approx(5 + own)
    with pytest.raises(ValueError, match="only contrasts that were drawn jointly"):
        less(one, from_normal(1.0, 1.0))


def test_what_is_known_has_no_interval():
    found = extreme(constant(0.0), "above", 0.95)
    assert found == pytest.approx((0, np.nan, np.nan), nan_ok=True)


@pytest.mark.parametrize(
    ("point", "rule", "holds", "p"),
    [
        (0.96, ABOVE, True, 0.04),
        (0.85, ABOVE, False, 0.15),
        (-0.96, BELOW, True, 0.04),
        (-0.96, ABOVE, False, 1.0),
        (0.96, BELOW, False, 1.0),
    ],
)
def test_beyond_chance_is_beyond_what_permutations_give(point, rule, holds, p):
    null = from_permutations(np.linspace(-1, 1, 2001)[:, None])
    difference = beyond([point], null)
    assert difference.points == pytest.approx([point])
    assert holds_beyond(difference, rule, 0.9) == holds  # 90% of permutations are between -0.9 and 0.9
    assert p_beyond(difference, rule) == pytest.approx(p, rel=0.02)


def test_the_null_of_permutations_is_their_mean_and_where_they_are():
    values = np.stack([np.linspace(0, 1, 101), np.linspace(2, 4, 101)], axis=1)
    null = from_permutations(values)
    low, high = null.ends(0.9)
    for found, expected in ((null.points, [0.5, 3]), (low, [0.05, 2.1]), (high, [0.95, 3.9])):
        assert found == pytest.approx(expected)
    assert null.least == 2 / 102


def test_few_pairs_have_no_interval_of_a_correlation():
    assert np.isnan(extreme(from_correlations([0.9], 3), "above", 0.95)[1:]).all()
    low = extreme(from_correlations([0.5], 19), "above", 0.95)[1]
    assert low == pytest.approx(np.tanh(np.arctanh(0.5) - 1.959964 / 4))


def test_a_margin_moves_the_bound_away_from_the_claim():
    assert (Rule("above", 1, 2).bound, Rule("below", 1, 2).bound) == (-1, 3)
    assert (str(TIE), str(BELOW)) == ("above -2 (0 with a margin of 2)", "below 0.2")


def test_draws_give_percentile_intervals_and_the_data_s_own_estimate():
    assert extreme(of_draws(7.0, np.arange(101.0)), "above", 0.9) == pytest.approx((7, 5, 95))


def test_the_least_of_several_contrasts_takes_the_worst_end_and_bonferroni_s_other():
    draws = np.random.default_rng(1).normal(size=(20000, 2)) + [1, 5]
    contrasts = from_draws(np.concatenate([[[1.0, 5.0]], draws]), MANY)
    estimate, *ends = extreme(contrasts, "above", 0.95)
    assert estimate == 1
    assert ends == pytest.approx([1 - 1.96, 1 + 2.24], abs=0.05)  # 2.24: normal quantile of 1 - 0.05 / 4


def test_the_greatest_of_several_contrasts_is_the_mirror_of_the_least():
    values = np.random.default_rng(1).normal(size=(500, 3))
    estimate, low, high = extreme(from_draws(values, 50), "above", 0.95)
    assert extreme(from_draws(-values, 50), "below", 0.95) == pytest.approx((-estimate, -high, -low))


def test_the_interval_of_the_least_covers_it():
    generator, covered, truth = np.random.default_rng(2), 0, np.array([0.0, 0.0, 0.3])
    for _ in range(300):
        units = generator.normal(truth, 1, (30, 3))
        means, errors = units.mean(axis=0), units.std(axis=0, ddof=1) / np.sqrt(30)
        drawn = means + errors * generator.normal(size=(200, 3))
        _, low, high = extreme(from_draws(np.vstack([means, drawn]), 29), "above", 0.9)
        covered += low <= truth.min() <= high
    assert covered / 300 >= 0.88


def test_a_contrast_that_is_no_number_leaves_the_least_undecided():
    contrasts = from_draws(np.array([[1.0, np.nan], [1.0, np.nan], [2.0, np.nan]]), 50)
    assert verdict(contrasts, ABOVE, 0.95) == UNDECIDED
