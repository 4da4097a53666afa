"""The gate and the baselines of answers' surface: known answers, and that a cue in the answers is found."""

import numpy as np
import pytest
from carb_gate import accuracies, classifier_scores, off_chance, surface_scores, text_scorers

from polyreward.scoring.interface import Conversations


def items(count: int, cue: bool) -> list[dict]:
    """Return items whose right answer has a word of its own, or none."""
    found = []
    for n in range(count):
        answers = [f"{'verily' if cue and place == n % 4 else 'maybe'} {n} {place}" for place in range(4)]
        item = {"culture": "en", "domain": "values", "topic": f"t{n}", "prompt": "?", "references": []}
        found.append({**item, "answers": answers, "chosen": n % 4})
    return found


@pytest.mark.parametrize("cue", [True, False])
def test_a_word_that_only_right_answers_have_is_found_and_its_absence_is_chance(cue):
    asked = items(60, cue)
    scores = classifier_scores(asked, 1)
    assert (accuracies(asked, scores)["words", "all", "all"][0] == 1) == cue
    assert bool(off_chance(asked, scores)) == cue


def test_ties_are_shared_out_and_intervals_are_wilson_s():
    asked = items(100, cue=False)
    found = accuracies(asked, {"none": [np.zeros(4)] * 100})["none", "all", "all"]
    assert found == pytest.approx((0.25, 0.1755, 0.3430), abs=1e-4)
    assert set(surface_scores(asked)) == {"length", "script"}


@pytest.mark.parametrize(
    ("name", "prompt", "answers", "scores"),
    [
        ("length", "What?", ("a", "bb", "ccc"), [1, 2, 3]),
        ("script", "Что?", ("да", "bb", "コーヒー", "가"), [1, 0, 0, 0]),
        ("script", "What?", ("да", "bb", "コーヒー", "가"), [0, 1, 0, 0]),
        ("script", "Что?", ("31/12", "да", "dа", "yes"), [1, 1, 0.5, 0]),  # without letters: in any script
    ],
)
def test_length_prefers_the_longest_and_script_the_prompt_s_script(name, prompt, answers, scores):
    scorer = text_scorers()[name]
    found = scorer.score([Conversations(prompt, answers), Conversations("q", ("a", "b"))], name)
    assert found.values[0].tolist() == pytest.approx(scores) and len(found.values[1]) == 2
    assert scorer.exact
