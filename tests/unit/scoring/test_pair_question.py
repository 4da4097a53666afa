"""Published questions about two answers: shown whole, asked once, and read as their benchmark reads them."""

import numpy as np
import pytest
import yaml
from canned_replies import canned_reply
from made_up_scorers import Backend
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Conversations
from polyreward.scoring.pair_question import PairJudge, PairQuestion, judge_of, swapped

QUESTIONS = yaml.safe_load((ROOT / "workflow/catalog/judge_questions.yaml").read_text(encoding="utf-8"))
PAIRS = [Conversations(f"Question {number}?", ("a good answer", "a bad one")) for number in range(64)]


def asked(says, name="rewardbench", verdict="text") -> PairJudge:
    found = judge_of({"question": QUESTIONS[name], "verdict": verdict}, Backend(says))
    assert isinstance(found, PairJudge)
    return found


def weighing(says) -> PairJudge:
    """Return a judge of which AlpacaEval's two names have what `says` makes of a request as probabilities."""
    return asked(lambda text: np.log(says(text)), "alpacaeval", "labels")


def first_is_good(text: str) -> bool:
    return text.index("a good answer") < text.index("a bad one")


RUBRIC = (
    "<type>Chat</type>\n<rubric>1. Manners (70%) <justify>A guest asks.</justify></rubric>\n"
    "<eval><quote_A>[[B]] is a letter</quote_A><summary_B>Says <answer>[[C]]</answer>.</summary_B></eval>\n\n"
    "<answer>[[{}]]</answer>"
)


@pytest.mark.parametrize(
    ("name", "form"), [("rewardbench", "Well. [[{}]]"), ("alpacaeval", "{}"), ("rm-r1", RUBRIC)]
)
def test_who_knows_the_better_answer_is_right_wherever_it_stands(name, form):
    names = QUESTIONS[name]["verdicts"]
    judged = asked(lambda text: form.format(names[not first_is_good(text)]), name)
    scores = judged.score(PAIRS, "judge")
    np.testing.assert_array_equal(scores.values, np.tile([1.0, 0.0], (64, 1)))
    assert len(judged.backend.requests) == 64
    assert all(
        [turn["role"] for turn in request] == ["system", "user"] for request in judged.backend.requests
    )
    shown = [first_is_good(request[-1]["content"]) for request in judged.backend.requests]
    assert 16 < sum(shown) < 48  # drawn, not always the first; 5 in 100,000 draws are outside


def test_who_names_a_place_is_right_half_of_the_time_and_no_verdict_is_half_right():
    place = np.array(asked(lambda text: "[[A]]").score(PAIRS, "judge").values)
    assert set(place[:, 0]) == {0.0, 1.0} and (place.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(place[:, 0] == 0, [swapped(*pair) for pair in PAIRS])
    judged = asked(lambda text: "[[B]]" if "Question 0?" in text else "Both are fine. [[C]]")
    mute = judged.score(PAIRS, "judge").values
    assert sorted(mute[0]) == [0.0, 1.0] and all(list(one) == [0.5, 0.5] for one in mute[1:])


def test_more_answers_are_asked_about_in_all_orders():
    three = Conversations("Which?", ("one", "two", "three"))
    judged = asked(lambda text: "[[A]]")
    found = judged.score([three, PAIRS[0], three], "judge").values
    assert len(judged.backend.requests) == 1 + 3  # a request that two items share is asked once
    assert [len(values) for values in found] == [3, 2, 3] and list(found[0]) == pytest.approx([1 / 3] * 3)


def test_by_labels_each_answer_gets_the_probability_of_its_name():
    judged = weighing(lambda text: (0.6, 0.2) if first_is_good(text) else (0.1, 0.3))
    scores = judged.score(PAIRS, "judge")
    assert judged.backend.labels == ["m", "M"] and judged.weighs
    # Of the two names; the rest went to other tokens.
    np.testing.assert_allclose(scores.values, np.tile([0.75, 0.25], (64, 1)))
    place = np.array(weighing(lambda text: (0.8, 0.2)).score(PAIRS, "judge").values)
    np.testing.assert_allclose(place[:, 0], [0.2 if swapped(*pair) else 0.8 for pair in PAIRS])
    np.testing.assert_allclose(place.sum(axis=1), 1)


def test_by_labels_a_reply_that_begins_with_neither_is_half_right_and_a_name_is_all_of_a_reply():
    neither = (np.nan, np.nan)
    judged = weighing(lambda text: (1.0, 3.0) if "Question 0?" in text else neither)
    first, *others = judged.score(PAIRS[:3], "judge").values
    assert sorted(first) == pytest.approx([0.25, 0.75]) and all(list(one) == [0.5, 0.5] for one in others)
    with pytest.raises(PolyrewardError, match="no reply of 3 begins with a label; set verdict: text"):
        weighing(lambda text: neither).score(PAIRS[:3], "judge")
    words = "not just A or B, so its first token is no label; set verdict: text"
    with pytest.raises(PolyrewardError, match=words):
        asked(lambda text: (0.5, 0.5), verdict="labels")


SOLUTION = "<type>Reasoning</type>\n<solution>4</solution>\n<eval><summary_A>5</summary_A></eval>\n"


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("m", 0),  # AlpacaEval's names differ only in case
        ("M", 1),
        (" M.\n", 1),
        ("Model M", None),
        ("", None),
        (SOLUTION + "<answer>[[B]]</answer>", 1),
        (RUBRIC.format("A"), 0),
        ("<answer> [[A]]\n</answer>", 0),
        ("<answer>[[A]]</answer> No: <answer>[[B]]</answer>", 1),  # the last one
        (SOLUTION + "[[B]]", None),
        (SOLUTION + "<answer>[[A/B]]</answer>", None),
        (SOLUTION, None),  # cut off
    ],
)
def test_the_answer_that_a_reply_names(reply, named):
    question = QUESTIONS["rm-r1" if "<" in reply else "alpacaeval"]
    assert PairQuestion(**question).named(reply) == named


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_tests_servers_reply_to_each_question_in_its_form(name):
    question = PairQuestion(**QUESTIONS[name])
    asked = "\n".join(message["content"] for message in question.request("Which?", "one", "two"))
    assert question.named(canned_reply(asked)) in (0, 1)


def test_braces_in_texts_stay():
    question = PairQuestion("", "{prompt}|{first}|{second}", ["A", "B"], "([AB])")
    assert question.request("{first}", "{second}", "x") == [{"role": "user", "content": "{first}|{second}|x"}]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"text": "{prompt} {first}"}, "it lacks second"),
        ({"pattern": "A|B"}, "one group"),
        ({"verdicts": ["A"]}, "two verdicts"),
    ],
)
def test_a_question_that_cannot_work_is_refused(change, problem):
    with pytest.raises(PolyrewardError, match=problem):
        PairQuestion(**QUESTIONS["rewardbench"] | change)
