"""The paired bootstrap over templates."""

import numpy as np
import pytest

from polyreward.analysis.bootstrap import percentile_interval, resampled_sections

HALF_RIGHT = np.repeat([1.0, 0.0], 50)[:, None]  # 100 pairs of one scorer


def resampled(correct, templates, samples=2000, seed=0):
    """Resample one subset in one section."""
    correct = np.asarray(correct, float)
    return resampled_sections(correct, ["u"] * len(correct), templates, {"u": 1}, {"s": ["u"]}, samples, seed)


def test_the_result_is_samples_by_scorers_by_sections():
    correct = np.ones((4, 3))
    sections = {"s": ["u"], "t": ["v"]}
    drawn = resampled_sections(correct, ["u", "u", "v", "v"], list("abcd"), {"u": 2, "v": 2}, sections, 7, 0)
    assert drawn.shape == (7, 3, 2)


def test_pairs_of_one_template_always_come_together():
    assert np.all(resampled([[1], [0], [1], [0]], ["t"] * 4) == 0.5)


def test_a_draw_is_the_mean_over_its_pairs_not_over_its_templates():
    # template a: 3 right pairs; b: 1 wrong pair. Draws: aa = 1, ab = 3 / 4, bb = 0
    assert set(resampled([[1], [1], [1], [0]], ["a", "a", "a", "b"]).ravel()) == {0.0, 0.75, 1.0}


def test_more_pairs_of_the_same_templates_do_not_narrow_the_interval():
    templates = np.arange(100)
    once = resampled(HALF_RIGHT, templates)
    four_times = resampled(np.repeat(HALF_RIGHT, 4, axis=0), np.repeat(templates, 4))
    assert np.allclose(once, four_times)


def test_a_bootstrap_over_pairs_is_narrower_by_the_root_of_the_pairs_per_template():
    of_templates = resampled(np.repeat(HALF_RIGHT, 4, axis=0), np.repeat(np.arange(100), 4), samples=20_000)
    of_pairs = resampled(np.repeat(HALF_RIGHT, 4, axis=0), np.arange(400), samples=20_000)
    assert of_templates.std() == pytest.approx(0.05, rel=0.03)  # sqrt(p (1 - p) / n) = sqrt(1/4 / 100)
    assert of_pairs.std() == pytest.approx(0.025, rel=0.03)  # sqrt(1/4 / 400)


def test_a_scorer_minus_its_copy_is_exactly_zero():
    column = np.random.default_rng(1).integers(0, 2, 60)
    drawn = resampled(np.column_stack([column, column]), np.repeat(np.arange(20), 3))
    assert drawn[:, 0].std() > 0
    assert np.all(drawn[:, 0] - drawn[:, 1] == 0)


def test_scorers_that_contradict_each_other_add_up_to_one_in_every_draw():
    column = np.random.default_rng(1).integers(0, 2, 60)
    drawn = resampled(np.column_stack([column, 1 - column]), np.repeat(np.arange(20), 3))
    assert np.allclose(drawn.sum(axis=1), 1)


def test_a_seed_gives_the_same_draws_and_another_seed_others():
    first, again, other = (resampled(HALF_RIGHT, np.arange(100), seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_draws_do_not_depend_on_the_order_of_pairs():
    order = np.random.default_rng(5).permutation(100)
    templates = np.array([f"t{n // 2}" for n in range(100)])
    assert np.allclose(resampled(HALF_RIGHT, templates), resampled(HALF_RIGHT[order], templates[order]))


def test_subsets_keep_their_weights_in_every_draw():
    correct = np.array([[0.0], [0.0], [1.0], [1.0]])  # u is all wrong and v all right, whatever is drawn
    arguments = (correct, ["u", "u", "v", "v"], list("abcd"), {"u": 10.0, "v": 30.0}, {"s": ["u", "v"]}, 500, 0)
    assert np.all(resampled_sections(*arguments) == 0.75)  # 30 / (10 + 30)


def test_each_section_has_its_own_subsets():
    correct = np.array([[0.0], [1.0]])
    drawn = resampled_sections(correct, ["u", "v"], ["a", "b"], {"u": 1, "v": 1}, {"s": ["v"], "t": ["u"]}, 5, 0)
    assert drawn[:, 0, :].tolist() == [[1.0, 0.0]] * 5


def test_the_interval_is_the_central_one():
    assert percentile_interval(np.arange(101), 0.9) == pytest.approx((5, 95))


def test_a_higher_confidence_gives_a_wider_interval():
    values = np.random.default_rng(0).normal(size=1000)
    assert percentile_interval(values, 0.99)[0] < percentile_interval(values, 0.9)[0] < 0
