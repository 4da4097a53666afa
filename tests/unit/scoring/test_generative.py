"""Judges: a position is worth nothing, a better answer wins, and nothing that a judge says is misread."""

import dataclasses
import re

import numpy as np
import pytest
import torch
from made_up_scorers import Backend
from tiny_models import ROWS
from transformers import AutoTokenizer

from polyreward.accel import trees
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.generative import LABELS, TEMPLATE, Judge, named_label, rotated_requests
from polyreward.scoring.interface import Conversations, conversations_of
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import LocalBackend, label_tokens, request_ids
from polyreward.sources.chat_templates import CHATML, PLAIN

PAIRS = conversations_of(ROWS)


def shown(request: str) -> list[str]:
    """Return the answers that a request shows, in its order."""
    return [text for _, text in re.findall(r"<([A-Z])>\n(.*?)\n</\1>", request, re.DOTALL)]


def fake_judge(opinion, verdict, **changes):
    """Return a judge whose backend says what `opinion` makes of the answers in their order."""
    return Judge(Backend(lambda request: opinion(shown(request)), **changes), verdict)


def scored(judged, *given) -> list[np.ndarray]:
    """Return a judge's scores of the answers to each (prompt, answers)."""
    return judged.score([Conversations(*one) for one in given], "mine").values


def answers(size: int) -> tuple[str, ...]:
    return tuple(f"answer number {n}" for n in range(size))


@pytest.mark.parametrize("size", [2, 4])
def test_a_position_ties_all_answers_exactly_and_the_better_answer_wins_wherever_it_stands(size):
    first = fake_judge(lambda texts: [-0.1, -2.3, -3.7, -0.9][: len(texts)], "labels")
    (values,) = scored(first, ("Hello", answers(size)))
    assert np.ptp(values) == 0 and values[0] < 0
    last = fake_judge(lambda texts: f"I like [[{LABELS[len(texts) - 1]}]]", "text")
    assert list(scored(last, ("Hello", answers(size)))[0]) == [1 / size] * size
    bias = [-0.2, -1.5, -2.5, -0.7]
    labels = fake_judge(
        lambda seen: [b + 0.1 * (text == "good") for b, text in zip(bias, seen, strict=False)], "labels"
    )
    text = fake_judge(lambda seen: f"[[{LABELS[seen.index('good')]}]]", "text")
    for best in range(size):
        texts = tuple("good" if n == best else f"bad {n}" for n in range(size))
        assert scored(labels, ("Hello", texts))[0].argmax() == best
        assert list(scored(text, ("Hello", texts))[0]) == [float(n == best) for n in range(size)]


def test_known_scores():
    known = {("x", "y"): [0.6, 0.2], ("y", "x"): [0.3, 0.1]}  # normalised: 3/4, 1/4 both times
    labels = fake_judge(lambda texts: np.log(known[tuple(texts)]), "labels")
    expected = [(np.log(0.75) + np.log(0.25)) / 2] * 2
    assert scored(labels, ("Hello", ("x", "y")))[0] == pytest.approx(expected)
    votes = fake_judge(lambda texts: "[[A]]" if texts[0] == "x" else "[[C]]", "text")
    assert scored(votes, ("Hello", ("x", "y", "z")))[0] == pytest.approx([2 / 3, 1 / 3, 0])
    assert scored(labels) == scored(votes) == []
    placed = fake_judge(lambda texts: [-0.1 * n - 0.01 * len(text) for n, text in enumerate(texts)], "labels")
    (values,) = scored(placed, ("a", ("same", "longer", "same", "another")))
    assert values[0] == values[2] != values[1]  # the same answers tie exactly


def test_items_of_several_sizes_come_back_in_their_order_and_a_request_is_asked_once():
    opinions = fake_judge(lambda texts: f"[[{LABELS[texts.index('good')]}]]", "text")
    items = [("a", ("x", "good")), ("b", ("x", "y", "z", "good")), ("c", ("good", "x")), ("a", ("good", "x"))]
    assert [values.argmax() for values in scored(opinions, *items)] == [1, 3, 0, 0]
    labels = fake_judge(lambda texts: [float(text == "good") for text in texts], "labels")
    found = scored(labels, *items)
    assert [values.argmax() for values in found] == [1, 3, 0, 0]
    assert len(labels.backend.requests) == 2 + 4 + 2 and list(found[0]) == list(found[3][::-1])
    # A pair's labels are normalised over two, though other items have four.
    assert found[0] == pytest.approx(scored(labels, items[0])[0])
    assert found[0][1] == pytest.approx(-np.log(1 + np.exp(-1)))


def test_a_request_that_was_cut_marks_all_answers_of_its_items():
    judged = fake_judge(lambda texts: "[[A]]", "text", too_long="<A>\nlong")
    scores = judged.score([Conversations("a", ("x", "y")), Conversations("b", ("x", "y", "long"))], "")
    assert [list(cut) for cut in scores.truncated] == [[False, False], [True, True, True]]


@pytest.mark.parametrize(
    "braces", ["{", "}", "{}", "{0}", "{prompt}", "{answers} {labels} {form}", "\\1 \\g<0> %s"]
)
def test_texts_stay_as_they_are_whatever_they_hold(braces):
    request, _ = rotated_requests(TEMPLATE, Conversations(f"p{braces}p", (f"a{braces}a", f"b{braces}b")))
    assert f"<prompt>\np{braces}p\n</prompt>" in request
    assert shown(request) == [f"a{braces}a", f"b{braces}b"]


@pytest.mark.parametrize(
    ("template", "asked"),
    [
        ("{prompt}\n{lettered}\nWhich? ({labels})", "Hello\nA. x\nB. {y}\nC. z\nWhich? (A, B or C)"),
        ('{{"q": "{prompt}"}} {answers} {labels} {other}',
         '{{"q": "Hello"}} <A>\nx\n</A>\n<B>\n{y}\n</B>\n<C>\nz\n</C> A, B or C {other}'),
    ],
)  # fmt: skip
def test_a_template_of_ones_own_keeps_its_other_braces(template, asked):
    judged = Judge(Backend(lambda request: "[[A]]"), "text", template)
    scored(judged, ("Hello", ("x", "{y}", "z")))
    assert judged.backend.requests[0] == [{"role": "user", "content": asked}]


@pytest.mark.parametrize(
    ("verdict", "end"),
    [("labels", "(A or B) and nothing else."), ("text", "(A or B), between [[ and ]].")],
)
def test_the_default_question_holds_all_and_ends_with_the_form_of_the_reply(verdict, end):
    judged = fake_judge(lambda texts: [0.0, 0.0] if verdict == "labels" else "[[A]]", verdict)
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    scored(judged, (turns, ("x", "y")))
    (message,) = judged.backend.requests[0]
    assert message["role"] == "user" and "system: Be brief.\nuser: Hello" in message["content"]
    assert message["content"].endswith(end) and not re.search(r"\{\w+\}", message["content"])


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("B is longer, but A is right.\n[[A]]", "A"),
        ("[[A]] at first sight. On reflection: [[B]]", "B"),
        ("<think>[[A]]</think>\n\n[[ B ]]\n", "B"),
        ("[[Answer B]]", "B"),
        ("[[b]]", "B"),
        ("B", "B"),
        (" A.\n", "A"),
        ("They differ.\n\n**B**", "B"),
        ("Final verdict: **A**", "A"),
        ("The best answer is B.", "B"),
        ("Answer A", "A"),
        ("", None),
        ("I cannot say.", None),
        ("A is good and so is B", None),
        ("The worst answer is B", None),
        ("Answer A is better than answer B", None),
        ("A\nis what I would say", None),
        ("[[C]]", None),  # no such answer
        ("[[A]], no: [[C]]", None),
        ("[[AB]]", None),
    ],
)
def test_the_label_that_a_reply_names(reply, named):
    assert named_label(reply, "AB") == named


def test_replies_without_a_verdict_are_told_and_count_for_all_alike(capsys):
    judged = fake_judge(lambda texts: "[[A]]" if texts[0] == "x" else "Hm.", "text")
    assert list(scored(judged, ("Hello", ("x", "y")))[0]) == [0.75, 0.25]
    assert "mine: 1 of 2 replies had no verdict" in capsys.readouterr().err
    nothing = fake_judge(lambda texts: [-1.0, -2.0] if texts[0] == "x" else [np.nan] * 2, "labels")
    first = -np.log(1 + np.exp(-1))
    expected = [(first - np.log(2)) / 2, (first - 1 - np.log(2)) / 2]
    assert scored(nothing, ("Hello", ("x", "y")))[0] == pytest.approx(expected)
    assert "mine: 1 of 2 replies" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verdict", "says", "size", "words"),
    [
        ("text", "Both do.", 2, r"mine: no reply of 2 has a verdict.*'Both do\.'.*max_new_tokens"),
        ("labels", [np.nan] * 2, 2, "no reply of 2 begins with a label; set verdict: text"),
        ("text", "[[A]]", 1, "'Hello': has 1 answers; a judge compares 2 to 26"),
        ("text", "[[A]]", 27, "'Hello': has 27 answers; a judge compares 2 to 26"),
    ],
)
def test_what_cannot_be_judged_and_no_verdict_at_all_is_an_error(verdict, says, size, words):
    with pytest.raises(PolyrewardError, match=words):
        scored(fake_judge(lambda texts: says, verdict), ("Hello", answers(size)))


# A causal LM as the judge


@pytest.fixture
def lm(base):
    return load_causal_lm(base, "float32", 1000, 10_000)


def by_labels(lm, template=TEMPLATE, **changes):
    return Judge(LocalBackend(dataclasses.replace(lm, **changes), 9), "labels", template)


def asking(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("token_budget", [1, 900, 100_000])
@pytest.mark.parametrize("plain_head", [True, False])
def test_label_scores_do_not_depend_on_batch_size(lm, token_budget, plain_head):
    assert lm.plain_head
    items = [*PAIRS, Conversations("Hi", answers(4))]
    expected = np.concatenate(by_labels(lm, token_budget=1, share=False).score(items, "").values)
    judged = by_labels(lm, token_budget=token_budget, plain_head=plain_head)
    assert judged.exact and np.ptp(expected) > 1e-2  # else nothing would be tested
    assert np.concatenate(judged.score(items, "").values) == pytest.approx(expected, abs=1e-5)


def test_requests_are_truncated_on_the_left_and_their_items_marked(lm):
    requests = [[asking(text) for text in rotated_requests("{prompt} {answers}", item)] for item in PAIRS]
    ids = [[request_ids(lm.tokenizer, request) for request in two] for two in requests]
    lengths = [max(map(len, two)) for two in ids]
    limit = sorted(lengths)[2]
    whole, short = (by_labels(lm, "{prompt} {answers}", max_length=most) for most in (999, limit))
    scores, expected = short.score(PAIRS, ""), whole.score(PAIRS, "").values
    assert [list(cut) for cut in scores.truncated] == [[length > limit] * 2 for length in lengths]
    for length, values, uncut in zip(lengths, scores.values, expected, strict=True):
        assert (np.abs(values - uncut).max() < 1e-5) == (length <= limit)
    longest = lengths.index(max(lengths))
    labels = [lm.tokenizer.encode(label)[0] for label in "AB"]
    logits = lm.model(input_ids=torch.tensor([ids[longest][0][-limit:]])).logits[0, -1]
    found = short.backend.label_logprobs(requests[longest][:1], "AB", "")[0]
    assert found == pytest.approx(logits.log_softmax(dim=-1)[labels].tolist(), abs=1e-5)


@pytest.mark.parametrize("template", [TEMPLATE, "Q: {prompt}\n{lettered}\nWhich is best?"])
def test_an_items_four_questions_share_rows_and_score_the_same_as_one_by_one(lm, template, monkeypatch):
    items = [Conversations(row["prompt"], tuple(f"{row['chosen']} {n}" for n in "abcd")) for row in ROWS]
    rows = []
    rows_of = trees.rows_of
    monkeypatch.setattr(trees, "rows_of", lambda *given: rows.append(rows_of(*given)[0]) or rows_of(*given))
    judges = by_labels(lm, template), by_labels(lm, template, token_budget=1, share=False)
    together, separate = (np.concatenate(judge.score(items, "").values) for judge in judges)
    assert sum(len(row.ends) for row in rows[0]) == 4 * len(items) > len(rows[0])
    assert np.ptp(separate) > 1e-3
    assert together == pytest.approx(separate, abs=1e-5)


REQUESTS = [asking(row["prompt"]) for row in ROWS]


@pytest.mark.parametrize("token_budget", [1, 700, 100_000])
def test_replies_are_greedy_whatever_the_batch_and_the_models_own_settings(lm, token_budget):
    lm.model.generation_config.update(do_sample=True, temperature=9.0, repetition_penalty=9.0, num_beams=2)
    replies = LocalBackend(dataclasses.replace(lm, token_budget=token_budget), 5).replies(REQUESTS, "")
    assert all(replies)
    for request, reply in zip(REQUESTS, replies, strict=True):
        ids = asked = request_ids(lm.tokenizer, request)
        for _ in range(5):
            ids = [*ids, int(lm.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())]
        assert reply == lm.tokenizer.decode(ids[len(asked) :], skip_special_tokens=True)


def test_a_finished_reply_ends_where_its_neighbours_go_on(lm):
    lm.tokenizer.pad_token = None  # as most bases have it
    whole = LocalBackend(lm, 5).replies(REQUESTS, "")
    ids = torch.tensor([request_ids(lm.tokenizer, REQUESTS[0])])
    said = lm.model.generate(ids, max_new_tokens=5, do_sample=False)
    lm.model.generation_config.eos_token_id = int(said[0, -3])  # what the first reply says third ends it
    ended = LocalBackend(lm, 5).replies(REQUESTS, "")
    assert len(ended[0]) < len(whole[0]) and whole[0].startswith(ended[0])
    assert ended == [LocalBackend(lm, 5).replies([request], "")[0] for request in REQUESTS]


def test_label_tokens_are_those_that_follow_the_generation_prompt(tiny_gemma):
    tokenizer = AutoTokenizer.from_pretrained(tiny_gemma)
    separate = [tokenizer.encode(label)[0] for label in "AB"]
    spaced = [tokenizer.encode(f" {label}")[0] for label in "AB"]
    assert separate != spaced
    answer = "{% for message in messages %}{{ message['role'] }}\n{{ message['content'] }}{% endfor %}"
    for template, expected in (
        (CHATML, separate),
        (PLAIN, spaced),
        # An answer that opens with an empty thought, which the generation prompt has not
        (CHATML.replace("{{ message['content'] }}", "<thought></thought>{{ message['content'] }}"), separate),
        # A generation prompt that opens a thought, which an answer has not
        (answer + "{% if add_generation_prompt %}assistant\n<thought>\n{% endif %}", separate),
    ):
        tokenizer.chat_template = template
        assert label_tokens(tokenizer, ["A", "B"]) == expected
    with pytest.raises(PolyrewardError, match="begin with the same token; set verdict: text"):
        label_tokens(tokenizer, ["A", "A!"])
