"""Rewards of judges, with known answers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from locals_data import GOOD

from polyreward.scoring.criteria_layout import LABELS, Reply, question
from polyreward.scoring.label_logprobs import label_logprobs, verdict_ids
from polyreward.think_as_locals.replies import TRAINING_FAULTS, UNNAMED
from polyreward.think_as_locals.rewards import (
    REWARDS,
    Rewards,
    appropriateness,
    correctness,
    layout,
    names_an_answer,
)
from polyreward.training.policies import load_policy


def test_rewards_of_verdict_and_layout():
    right, wrong, broken = Reply(("x",), "A"), Reply(("x",), "B"), Reply(fault="no verdict")
    assert [correctness(reply, "A") for reply in (right, wrong, broken)] == [1.0, -1.0, -1.0]
    assert [layout(reply) for reply in (right, wrong, broken)] == [1.0, 1.0, -1.0]


def hand_computed(folder, request, criteria, label) -> float:
    """Return a label's log-probability where a reply has it, token by token: the plainest way there is."""
    model, tokenizer = load_policy(folder)
    turns = [
        {"role": "user", "content": request},
        {"role": "assistant", "content": "\n".join([*criteria, f"Verdict: {label}"])},
    ]
    before = tokenizer.apply_chat_template(turns, tokenize=False).rpartition(f" {label}")[0]
    assert before.endswith("Verdict:")
    ids, total = tokenizer.encode(before, add_special_tokens=False), 0.0
    for token in tokenizer.encode(f" {label}", add_special_tokens=False):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1].double()
        total += (logits[token] - logits.exp().sum().log()).item()
        ids.append(token)
    return total


def test_appropriateness_is_the_difference_of_two_hand_computed_logprobs(base):
    model, tokenizer = load_policy(base)
    requests = [
        question("How do I greet?", "Bow.", "Shake hands."),
        question("What is eaten?", "Rice with fish.", "Bread."),
    ]
    replies = [Reply(("It is usual there.", "Nothing else counts."), "B"), Reply(("Short.",), "A")]
    found = appropriateness(model, tokenizer, requests, replies, ["A", "B"], 999, 999)
    by_hand = [
        hand_computed(base, request, [f"{n}. {text}" for n, text in enumerate(reply.criteria, 1)], right)
        - hand_computed(base, request, [], right)
        for request, reply, right in zip(requests, replies, ["A", "B"], strict=True)
    ]
    assert found == pytest.approx(by_hand, abs=1e-4)
    assert min(map(abs, found)) > 1e-4  # random weights, so that nothing is zero by itself


def test_appropriateness_is_of_the_right_verdict_whatever_the_reply_says(base):
    model, tokenizer = load_policy(base)
    request = question("How do I greet?", "Bow.", "Shake hands.")
    replies = [Reply(("It is usual.",), "A"), Reply(("It is usual.",), "B")]
    same, other = appropriateness(model, tokenizer, [request] * 2, replies, ["A"] * 2, 999, 999)
    assert same == pytest.approx(other, abs=1e-5)


def test_a_reply_out_of_form_never_gains_on_those_in_form(base):
    model, tokenizer = load_policy(base)
    request, other = question("How do I greet?", "Bow.", "Shake hands."), question("p", "x", "y")
    replies = [
        Reply(("It is usual.",), "A"),
        Reply(("z z z", "z"), "A"),
        Reply(("Good.",), fault="endless"),
        Reply(fault="no verdict"),
    ]
    one, two, broken, separate = appropriateness(
        model, tokenizer, [*[request] * 3, other], replies, ["A"] * 4, 999, 999
    )
    assert broken == min(one, two) != max(one, two)
    assert separate == 0.0


def test_appropriateness_needs_no_gradient_and_leaves_the_model_as_it_was(base):
    model, tokenizer = load_policy(base)
    model.train()
    asked = question("How do I greet?", "Bow.", "Shake hands.")
    appropriateness(model, tokenizer, [asked], [Reply(("x",), "A")], ["A"], 999, 999)
    assert model.training
    assert all(weight.grad is None for weight in model.parameters())


def test_logprobs_do_not_depend_on_their_batch_and_are_of_the_label_alone(base):
    model, tokenizer = load_policy(base)
    asked = [
        (question("p", "x", "y " * n), criteria)
        for n in (1, 9, 40)
        for criteria in ((), ("Long " * n, "Short."))
    ]
    separate = np.concatenate([label_logprobs(model, tokenizer, [one], 999, 999) for one in asked])
    assert label_logprobs(model, tokenizer, asked, 999, 10_000) == pytest.approx(separate, abs=1e-4)
    ids, labels = verdict_ids(tokenizer, *asked[1])
    assert tokenizer.decode(ids).endswith("Verdict:")
    assert [tokenizer.decode(tokens).strip() for tokens in labels] == list(LABELS)


@pytest.mark.parametrize("max_length", [999, 40])  # 40: what is cut on the left no longer begins alike
def test_a_question_that_is_run_once_for_its_replies_gives_the_same_logprobs(base, max_length, monkeypatch):
    model, tokenizer = load_policy(base)
    requests = [question("p", "x", "y " * n) for n in (1, 9, 40)]
    asked = [
        (request, criteria) for request in requests for criteria in ((), ("Long " * 9, "Short."), ("Other.",))
    ]
    whole = label_logprobs(model, tokenizer, asked, max_length, 10_000)
    tokens, forward = [], model.forward

    def counted(input_ids, **options):
        tokens.append(input_ids.numel())
        return forward(input_ids=input_ids, **options)

    monkeypatch.setattr(model, "forward", counted)
    assert label_logprobs(model, tokenizer, asked, max_length, 10_000, share=True) == pytest.approx(
        whole, abs=1e-4
    )
    longest = max(len(verdict_ids(tokenizer, *one)[0]) for one in asked)
    assert max_length < longest or sum(tokens) < 0.7 * longest * len(asked)


def test_the_rewards_as_trl_calls_them(tiny_gemma):
    model, tokenizer = load_policy(tiny_gemma)
    end = tokenizer.eos_token_id
    rewards, logged = Rewards(tokenizer, [end], 999, 999), {}
    rewards.trainer = SimpleNamespace(model=model)
    rewards.share = True
    texts = [GOOD, GOOD, "Verdict: A", "1. x\nVerdict: A\nVerdict: B", GOOD]
    request = question("p", "x", "y")
    called = {
        "prompts": [[{"role": "user", "content": request}]] * 5, "right": ["B", "A", "A", "A", "B"],
        "completions": [[{"role": "assistant", "content": text}] for text in texts],
        "completion_ids": [[5, end], [5, end], [5, end], [5, end], [5, 6]],
        "log_metric": logged.__setitem__, "trainer_state": None,
    }  # fmt: skip
    by_name = {function.__name__: function(**called) for function in rewards.functions()}
    assert list(by_name) == list(REWARDS)
    assert by_name["correctness"] == [1.0, -1.0, -1.0, -1.0, -1.0]
    assert by_name["layout"] == [1.0, 1.0, -1.0, -1.0, -1.0]
    in_form, broken = by_name["appropriateness"][:2], by_name["appropriateness"][2:]
    assert 0.0 not in in_form
    assert broken == [min(in_form)] * 3
    assert logged == {
        f"faults/{fault}": 0.2 * (fault in ("endless", "several verdicts", "no criteria"))
        for fault in TRAINING_FAULTS
    }


@pytest.mark.parametrize(
    ("criterion", "quote", "names"),
    [
        ("It is usual there: by the word. (A)", 24, True),
        ("It is usual there: by the word. (B)", 24, False),  # another answer's label
        ("It is usual there: shake the hand. (B)", 24, True),  # of the wrong answer, too
        ("It is usual there: a bow. (A)", 24, False),
        ("It is usual there: by the word.", 24, False),
        ("It is usual there (A)", 24, False),
        ("It is usual there: by the word. (A) is right", 24, False),
        ("It is usual there: . (A)", 1, True),
        ("It is usual there: nod. (B)", 1, True),  # only the last character is required
    ],
)
def test_a_criterion_names_an_answer_by_its_last_words_and_label(criterion, quote, names):
    request = question("How do I greet?", "Bow,\nand stand by the word.", "Shake the hand.")
    assert names_an_answer(Reply(("First.", criterion), "A"), request, quote) == names
    assert not names_an_answer(Reply((criterion, "Last."), "A"), request, quote)


def test_answers_of_one_letter_or_of_two_lines_can_be_named():
    request = question("How many?", "3", "None\n0.")
    named = {
        end: names_an_answer(Reply((f"It is so: {end}",), "A"), request, 24)
        for end in ("3 (A)", "None 0. (B)", "4 (A)")
    }
    assert named == {"3 (A)": True, "None 0. (B)": True, "4 (A)": False}


def test_a_judge_that_is_to_name_an_answer_has_no_verdict_without(tiny_gemma):
    model, tokenizer = load_policy(tiny_gemma)
    end, logged, request = tokenizer.eos_token_id, {}, question("How do I greet?", "Bow.", "Shake hands.")
    rewards = Rewards(tokenizer, [end], 999, 999, quote=24)
    rewards.trainer = SimpleNamespace(model=model)
    texts = [
        "1. It is usual: Bow. (A)\nVerdict: A",
        "1. It is usual: Shake hands. (B)\nVerdict: B",
        "1. It is usual.\nVerdict: A",
    ]
    called = {
        "prompts": [[{"role": "user", "content": request}]] * 3, "right": ["A"] * 3, "completion_ids": [[5, end]] * 3,
        "completions": [[{"role": "assistant", "content": text}] for text in texts], "log_metric": logged.__setitem__,
    }  # fmt: skip
    right, helps, form = [function(**called) for function in rewards.functions()]
    assert (right, form) == ([1.0, -1.0, -1.0], [1.0, 1.0, -1.0])
    assert helps[2] == min(helps[:2])
    assert {fault: share for fault, share in logged.items() if share} == {
        f"faults/{UNNAMED}": pytest.approx(1 / 3)
    }


def test_judges_without_criteria_are_rewarded_for_a_verdict_alone(tiny_gemma):
    tokenizer = load_policy(tiny_gemma)[1]
    rewards = Rewards(tokenizer, [1], 999, 999, criteria=False)
    called = {
        "prompts": [[]] * 2,
        "completions": [[{"role": "assistant", "content": text}] for text in ("Verdict: A", "Verdict:")],
        "completion_ids": [[5, 1]] * 2,
        "right": ["A", "A"],
    }
    assert [function(**called) for function in rewards.functions()] == [[1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]
