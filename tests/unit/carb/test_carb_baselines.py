"""Scores of length and of script."""

import pytest
from support import script

from polyreward.scoring.baselines import script_baseline
from polyreward.scoring.interface import Conversations

text_scorers = script("score/carb_text_scores").text_scorers


def scores(name, prompt, *answers):
    return text_scorers()[name].score([Conversations(prompt, answers)], name).values[0].tolist()


def test_length_prefers_the_longest_and_script_the_prompt_s_script():
    assert scores("length", "What?", "a", "bb", "ccc") == [1, 2, 3]
    assert scores("script", "Что?", "да", "bb", "コーヒー", "가") == [1, 0, 0, 0]
    assert scores("script", "What?", "да", "bb", "コーヒー", "가") == [0, 1, 0, 0]


def test_an_answer_without_letters_is_in_the_prompt_s_script():
    scores = script_baseline().score([Conversations("Что?", ("31/12", "да", "dа", "yes"))], "script")
    assert scores.values[0].tolist() == pytest.approx([1, 1, 0.5, 0])


def test_scorers_serve_as_reward_models_do():
    for scorer in text_scorers().values():
        found = scorer.score([Conversations("p", ("a", "b", "c", "d")), Conversations("q", ("a", "b"))], "x")
        assert [len(values) for values in found.values] == [4, 2]
        assert scorer.exact and scorer.unbatched() is scorer
