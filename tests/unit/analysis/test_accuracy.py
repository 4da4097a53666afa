"""Accuracies of subsets and sections, and the two averages."""

import numpy as np
import pandas as pd
import pytest

from polyreward.analysis.accuracy import (
    MissingSubset,
    correctness,
    section_mean,
    section_scores,
    subset_weights,
)
from polyreward.core.errors import PolyrewardError


def scores(chosen, rejected):
    return pd.DataFrame({"score_chosen": chosen, "score_rejected": rejected})


def test_a_pair_is_right_only_where_chosen_scores_higher():
    assert correctness(scores([2, 1, -1], [1, 2, -5]), "wrong").tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(("ties", "value"), [("wrong", 0.0), ("half", 0.5)])
def test_ties_count_as_asked(ties, value):
    assert correctness(scores([1, 3], [1, 2]), ties).tolist() == [value, 1.0]


def test_an_unknown_way_to_count_ties_is_refused():
    with pytest.raises(KeyError):
        correctness(scores([1], [0]), "right")


def test_the_file_and_the_first_row_of_scores_that_are_no_numbers_are_named():
    bad = scores([np.nan, 2.0, np.nan], [0.0, 0.0, 0.0])
    bad = bad.assign(benchmark="b", scorer="s", language="es", id=["r0", "r1", "r2"])
    expected = r"work/5_scores/b/s/es.parquet: 2 rows have a score that is not a number \(first: id r0\)"
    with pytest.raises(PolyrewardError, match=expected):
        correctness(bad, "half")


@pytest.mark.parametrize("column", ["score_chosen", "score_rejected"])
def test_a_score_that_is_no_number_raises(column):
    with pytest.raises(PolyrewardError, match="not a number"):
        correctness(scores([1.0, 2.0], [0.0, 0.0]).assign(**{column: [1.0, np.nan]}), "half")


def test_infinite_scores_are_compared():
    assert correctness(scores([np.inf, -np.inf], [0, 0]), "wrong").tolist() == [1.0, 0.0]


def test_subsets_weigh_their_pairs_save_where_overridden():
    subsets = ["math-prm"] * 447 + ["hep-cpp"] * 164
    assert subset_weights(subsets, {"math-prm": 984, "elsewhere": 5}) == {"math-prm": 984.0, "hep-cpp": 164.0}


def test_math_prm_weighs_984_in_its_section():
    weights = subset_weights(["math-prm"] * 447 + ["hep-cpp"] * 164, {"math-prm": 984})
    result = section_scores(
        {"math-prm": 0.5, "hep-cpp": 1.0}, weights, {"reasoning": ["math-prm", "hep-cpp"]}
    )
    # (984 * 1/2 + 164) / (984 + 164) = 656 / 1148 = 4 / 7; with 447 it were 387.5 / 611
    assert result == {"reasoning": pytest.approx(4 / 7, abs=1e-12)}


def test_a_section_is_the_weighted_mean_of_its_own_subsets():
    accuracy = {"a": 1.0, "b": 0.5, "c": 0.25}
    weights = {"a": 1.0, "b": 3.0, "c": 100.0}
    result = section_scores(accuracy, weights, {"first": ["a", "b"], "second": ["c"]})
    assert result == {"first": pytest.approx(0.625), "second": pytest.approx(0.25)}  # (1 + 3/2) / 4


def test_a_missing_subset_is_named_and_is_a_polyreward_error():
    with pytest.raises(MissingSubset, match="no accuracy for the subsets b, d;") as caught:
        section_scores({"a": 1.0, "c": 1.0}, {"a": 1, "c": 1}, {"first": ["d", "a"], "second": ["c", "b"]})
    assert isinstance(caught.value, PolyrewardError)


def test_the_mean_of_sections_is_not_that_of_pairs():
    correct, subsets = [1.0, 1.0, 1.0, 0.0], ["chat", "chat", "chat", "safety"]
    accuracy = pd.Series(correct).groupby(subsets).mean().to_dict()
    sections = section_scores(accuracy, subset_weights(subsets, {}), {"chat": ["chat"], "safety": ["safety"]})
    assert section_mean(sections) == pytest.approx(0.5)  # (1 + 0) / 2
