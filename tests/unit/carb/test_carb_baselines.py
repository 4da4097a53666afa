"""Scores of length and of script."""

import pytest
from support import script

from polyreward.scoring.interface import Conversations

text_scorers = script("score/carb_text_scores").text_scorers


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
    found = text_scorers()[name].score([Conversations(prompt, answers)], name)
    assert found.values[0].tolist() == pytest.approx(scores)


def test_scorers_serve_as_reward_models_do():
    for scorer in text_scorers().values():
        found = scorer.score([Conversations("p", ("a", "b", "c", "d")), Conversations("q", ("a", "b"))], "x")
        assert [len(values) for values in found.values] == [4, 2]
        assert scorer.exact and scorer.unbatched() is scorer
