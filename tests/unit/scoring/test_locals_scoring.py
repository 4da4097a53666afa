"""Judges of Think-as-Locals as reward models: what they are asked, how their replies are read, and what score
follows."""

import dataclasses
import math
import re

import numpy as np
import pytest
from support import script

from polyreward.scoring import criteria_judge as judging
from polyreward.scoring.criteria_judge import CriteriaJudge
from polyreward.scoring.criteria_layout import question
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations
from polyreward.scoring.label_logprobs import label_logprobs
from polyreward.think_as_locals.replies import replies_of, reply_counts

comparable = script("score/carb_perturbed_scores").comparable
SCORING = {"dtype": "float32", "max_length": 512, "token_budget": 4096, "attention": "sdpa"}


@dataclasses.dataclass(frozen=True)
class NoModel:
    """Stands for a model where its answers are given."""

    tokenizer = None
    model = None
    max_length = 512
    token_budget = 512
    exact = True


@pytest.fixture
def scripted(monkeypatch):
    """Return a function that makes a judge whose log-probabilities are an opinion of (first, second), and its
    replies fixed."""

    def make(opinion, reply="1. x\nVerdict: A"):
        def logprobs(model, tokenizer, asked, max_length, token_budget):
            shown = re.compile(r"^Answer [AB]: (.*) \([AB]\)$", re.MULTILINE)
            return np.array([opinion(*shown.findall(request)) for request, _ in asked])

        monkeypatch.setattr(judging, "label_logprobs", logprobs)
        monkeypatch.setattr(judging, "runs_from_shared_prompts", lambda model: False)
        monkeypatch.setattr(
            judging,
            "cut_requests",
            lambda tokenizer, requests, longest: [len(turns[0]["content"]) > longest for turns in requests],
        )
        monkeypatch.setattr(
            CriteriaJudge, "texts", lambda self, requests, label: [(reply, True) for _ in requests]
        )
        return CriteriaJudge(NoModel(), True, 8)

    return make


def pair_scores(judge, prompt="q", answers=("x", "y")) -> np.ndarray:
    return judge.score([Conversations(prompt, answers)], "").values[0]


def mean_logs(*orders):
    """Return the mean logarithms of the shares of two answers in each order in which they are shown."""
    return pytest.approx(np.log(orders).mean(axis=0))


def test_known_scores_of_both_orders(scripted):
    values = pair_scores(scripted(lambda first, second: (-0.1, -2.7)))
    first, second = 1 / (1 + math.exp(-2.6)), 1 / (1 + math.exp(2.6))
    assert values[0] == values[1]  # one that prefers a place ties exactly
    assert values == mean_logs((first, second), (second, first))
    known = {"xy": [0.6, 0.2], "yx": [0.1, 0.1]}  # normalised: 3/4, 1/4; and 1/2, 1/2
    values = pair_scores(scripted(lambda first, second: np.log(known[first + second])))
    assert values == mean_logs((3 / 4, 1 / 4), (1 / 2, 1 / 2))


def test_of_several_answers_each_meets_all_others(scripted):
    judge = scripted(lambda first, second: (len(first), len(second)))
    values = pair_scores(judge, "q", ("aa", "a", "aaaa", "aa"))
    assert list(np.argsort(values))[-1] == 2 and values[0] == values[3] > values[1]
    expected = np.mean([-math.log(1 + math.exp(other - 4)) for other in (2, 1, 2)])
    assert values[2] == pytest.approx(expected)


def test_a_reply_that_is_not_in_form_is_closed_by_force_and_is_counted_still(scripted, capsys):
    known = {"x": [3 / 4, 1 / 4], "y": [1 / 2, 1 / 2]}
    judge = scripted(lambda first, second: np.log(known[first]), "1. x")
    assert pair_scores(judge) == mean_logs((3 / 4, 1 / 4), (1 / 2, 1 / 2))
    assert "2 of 2 replies are not in form; each is closed by force" in capsys.readouterr().err
    counts = reply_counts("judge", replies_of(judge)).loc[0, ["replies", "in_form", "no verdict"]]
    assert counts.tolist() == [2, 0, 2]


GREETING = ("How do I greet?", ("Bow.", "Shake hands."))


def by_hand(judge, criteria):
    """Return the scores of GREETING's answers by label_logprobs after some criteria, both orders."""
    prompt, answers = GREETING
    asked = [(question(prompt, *texts), criteria) for texts in (answers, answers[::-1])]
    found = label_logprobs(judge.lm.model, judge.lm.tokenizer, asked, 512, 512)
    found -= np.log(np.exp(found).sum(axis=1, keepdims=True))
    return pytest.approx([(found[0, 0] + found[1, 1]) / 2, (found[0, 1] + found[1, 0]) / 2], abs=1e-5)


def loaded(base, verdict="criteria", new_tokens=6, **changes):
    entry = {"kind": "generative", "source": str(base), "verdict": verdict, "max_new_tokens": new_tokens}
    return load_reward_model(entry, {**SCORING, **changes}, "unused")


def test_a_forced_verdict_is_read_after_what_was_said_before_it(base, monkeypatch):
    judge, said = loaded(base), "1. It is usual.\n2. It is"
    monkeypatch.setattr(judging, "runs_from_shared_prompts", lambda model: False)
    monkeypatch.setattr(
        CriteriaJudge, "texts", lambda self, requests, label: [(said, False) for _ in requests]
    )
    assert pair_scores(judge, *GREETING) == by_hand(judge, ("It is usual.", "It is"))


# 60: what is cut on the left does not go on from its question.
@pytest.mark.parametrize("max_length", [512, 60])
def test_a_question_that_is_run_once_for_its_reply_and_its_verdict_gives_the_same(
    base, max_length, monkeypatch
):
    judge = loaded(base, new_tokens=9, max_length=max_length, token_budget=400)
    requests = [question("How do I greet?", "Bow.", "Shake hands. " * n) for n in (1, 9, 4, 2, 20)]
    calls, whole = [], judging.label_logprobs
    monkeypatch.setattr(
        judging, "label_logprobs", lambda *scripted: calls.append(len(scripted[2])) or whole(*scripted)
    )
    replies, verdicts = judge.judged(requests, "")
    assert calls == ([] if max_length == 512 else [len(requests)])
    monkeypatch.setattr(judging, "runs_from_shared_prompts", lambda model: False)
    again, expected = judge.judged(requests, "")
    assert replies == again and judge.said == [*replies, *again]
    assert list(verdicts) == list(expected)
    assert np.array(list(verdicts.values())) == pytest.approx(np.array(list(expected.values())), abs=1e-4)


def test_the_same_question_is_asked_once_and_a_long_one_marks_its_answers(scripted):
    judge = scripted(lambda first, second: (len(first), len(second)))
    items = [("q", ("x", "yy")), ("q", ("yy", "x")), ("q" * 600, ("x", "yy"))]
    scores = judge.score([Conversations(*item) for item in items], "")
    assert len(judge.said) == 4
    assert list(scores.values[0]) == list(scores.values[1][::-1])
    assert [list(cut) for cut in scores.truncated] == [[False] * 2, [False] * 2, [True] * 2]


@pytest.mark.parametrize("verdict", ["criteria", "no-criteria"])
def test_a_judge_is_an_entry_like_any_other(base, verdict):
    judge = loaded(base, verdict)
    items = [Conversations(*GREETING), Conversations("What is eaten?", ("Rice.", "Bread."))]
    values = judge.score(items, "").values
    if verdict == "criteria":  # random weights never find the layout
        assert {reply.fault for reply in judge.said} <= {"endless", "no verdict"} and len(judge.said) == 4
        return
    assert values[0] == by_hand(judge, ()) and replies_of(judge) == []
    separate = loaded(base, verdict, token_budget=1).score(items, "").values
    assert separate[1] == pytest.approx(values[1], abs=1e-5)


@pytest.mark.parametrize(("reply", "in_form"), [("1. x\nVerdict: A", 4), ("Verdict: A", 0), ("1. y", 0)])
def test_a_rewrite_is_judged_beside_the_first_answer(scripted, reply, in_form):
    def opinion(first, second):  # 3 to 1 for "y", whatever its place; even else
        return np.log([1 + 2 * (first == "y"), 1 + 2 * (second == "y")])

    judge = scripted(opinion, reply)
    values = pair_scores(comparable(judge, "generative"), "q", ("x", "y", "z"))
    assert values == pytest.approx([0, math.log(3), 0])
    counts = reply_counts("judge", replies_of(judge)).loc[0, ["replies", "in_form"]]
    assert counts.tolist() == [4, in_form]
