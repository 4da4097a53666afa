"""Rewards of judges, with known answers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from locals_data import GOOD

from polyreward.scoring.criteria_layout import LABELS, Reply, question
from polyreward.scoring.label_logprobs import label_logprobs, verdict_ids
from polyreward.settings.think_as_locals import RewardWeights
from polyreward.think_as_locals.replies import TRAINING_FAULTS, UNNAMED
from polyreward.think_as_locals.rewards import Rewards, appropriateness, names_an_answer
from polyreward.training.policies import load_policy

GREETING = question("How do I greet?", "Bow.", "Shake hands.")


def hand_computed(folder, request, criteria, label) -> float:
    """Return a label's log-probability where a reply has it, token by token: the plainest way there is."""
    model, tokenizer = load_policy(folder)
    texts = {"user": request, "assistant": "\n".join([*criteria, f"Verdict: {label}"])}
    turns = [{"role": role, "content": text} for role, text in texts.items()]
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
    requests = [GREETING, question("What is eaten?", "Rice with fish.", "Bread.")]
    replies = [Reply(("It is usual there.", "Nothing else counts."), "B"), Reply(("Short.",), "A")]
    found = appropriateness(model, tokenizer, requests, replies, ["A", "B"], 999, 999)
    by_hand = [
        hand_computed(base, request, [f"{n}. {text}" for n, text in enumerate(reply.criteria, 1)], right)
        - hand_computed(base, request, [], right)
        for request, reply, right in zip(requests, replies, ["A", "B"], strict=True)
    ]
    assert found == pytest.approx(by_hand, abs=1e-4)
    assert min(map(abs, found)) > 1e-4  # random weights, so that nothing is zero by itself


def test_appropriateness_is_of_the_right_verdict_and_a_reply_out_of_form_never_gains_on_those_in_form(base):
    model, tokenizer = load_policy(base)
    model.train()
    replies = [
        Reply(("It is usual.",), "A"), Reply(("It is usual.",), "B"), Reply(("z z z", "z"), "A"),
        Reply(("Good.",), fault="endless"), Reply(fault="no verdict"),
    ]  # fmt: skip
    requests = [*[GREETING] * 4, question("p", "x", "y")]
    found = appropriateness(model, tokenizer, requests, replies, ["A"] * 5, 999, 999)
    one, turned, two, broken, separate = found
    assert one == pytest.approx(turned, abs=1e-5)  # whatever the reply's own verdict
    assert broken == min(one, turned, two) != max(one, two)
    assert separate == 0.0
    assert model.training and all(weight.grad is None for weight in model.parameters())


def test_logprobs_do_not_depend_on_their_batch_and_are_of_the_label_alone(base):
    model, tokenizer = load_policy(base)
    criteria = ((), ("Long " * 9, "Short."))
    asked = [(question("p", "x", "y " * n), some) for n in (1, 9, 40) for some in criteria]
    separate = np.concatenate([label_logprobs(model, tokenizer, [one], 999, 999) for one in asked])
    assert label_logprobs(model, tokenizer, asked, 999, 10_000) == pytest.approx(separate, abs=1e-4)
    ids, labels = verdict_ids(tokenizer, *asked[1])
    assert tokenizer.decode(ids).endswith("Verdict:")
    assert [tokenizer.decode(tokens).strip() for tokens in labels] == list(LABELS)


@pytest.mark.parametrize("max_length", [999, 40])  # 40: what is cut on the left no longer begins alike
def test_a_question_that_is_run_once_for_its_replies_gives_the_same_logprobs(base, max_length, monkeypatch):
    model, tokenizer = load_policy(base)
    criteria = ((), ("Long " * 9, "Short."), ("Other.",))
    asked = [(question("p", "x", "y " * n), some) for n in (1, 9, 40) for some in criteria]
    whole = label_logprobs(model, tokenizer, asked, max_length, 10_000)
    tokens, forward = [], model.forward

    def counted(input_ids, **options):
        tokens.append(input_ids.numel())
        return forward(input_ids=input_ids, **options)

    monkeypatch.setattr(model, "forward", counted)
    shared = label_logprobs(model, tokenizer, asked, max_length, 10_000, share=True)
    assert shared == pytest.approx(whole, abs=1e-4)
    longest = max(len(verdict_ids(tokenizer, *one)[0]) for one in asked)
    assert max_length < longest or sum(tokens) < 0.7 * longest * len(asked)


@pytest.fixture
def rewarded(tiny_gemma):
    """Return a function from replies to their rewards, as TRL calls them, and the metrics that are logged."""
    model, tokenizer = load_policy(tiny_gemma)

    def rewarded(right, *texts, cut=0, model=model, **how):
        ends, logged = [tokenizer.eos_token_id, 7], {}
        rewards = Rewards(tokenizer, RewardWeights(), 999, 999, **how)
        rewards.trainer, rewards.share = SimpleNamespace(model=model, eos_token_ids=ends), True
        called = {
            "prompts": [[{"role": "user", "content": GREETING}]] * len(texts), "right": list(right),
            "completions": [[{"role": "assistant", "content": text}] for text in texts],
            "completion_ids": [*([5, ends[n % 2]] for n in range(len(texts) - cut)), *[[5, 6]] * cut],
            "log_metric": logged.__setitem__, "trainer_state": None,
        }  # fmt: skip
        by_name = {function.__name__: function(**called) for function in rewards.functions()}
        assert list(by_name) == list(RewardWeights.model_fields) and rewards.weights == [1.0, 0.1, 1.0]
        assert list(logged) == [f"faults/{fault}" for fault in TRAINING_FAULTS]
        return *by_name.values(), {fault: share for fault, share in logged.items() if share}

    return rewarded


def test_the_rewards_as_trl_calls_them(rewarded):
    texts = [GOOD, GOOD, "Verdict: A", "1. x\nVerdict: A\nVerdict: B", GOOD]
    right, helps, form, logged = rewarded("BAAAB", *texts, cut=1)
    assert right == [1.0, -1.0, -1.0, -1.0, -1.0]
    assert form == [1.0, 1.0, -1.0, -1.0, -1.0]
    assert 0.0 not in helps[:2] and helps[2:] == [min(helps[:2])] * 3
    assert logged == {f"faults/{fault}": 0.2 for fault in ("endless", "several verdicts", "no criteria")}


GREET = question("How do I greet?", "Bow,\nand stand by the word.", "Shake the hand.")
COUNT = question("How many?", "3", "None\n0.")


@pytest.mark.parametrize(
    ("request_", "criterion", "quote", "names"),
    [
        (GREET, "It is usual there: by the word. (A)", 24, True),
        (GREET, "It is usual there: by the word. (B)", 24, False),  # another answer's label
        (GREET, "It is usual there: shake the hand. (B)", 24, True),  # of the wrong answer, too
        (GREET, "It is usual there: a bow. (A)", 24, False),
        (GREET, "It is usual there: by the word.", 24, False),
        (GREET, "It is usual there (A)", 24, False),
        (GREET, "It is usual there: by the word. (A) is right", 24, False),
        (GREET, "It is usual there: . (A)", 1, True),
        (GREET, "It is usual there: nod. (B)", 1, True),  # only the last character is required
        (COUNT, "It is so: 3 (A)", 24, True),
        (COUNT, "It is so: None 0. (B)", 24, True),
        (COUNT, "It is so: 4 (A)", 24, False),
    ],
)
def test_a_criterion_names_an_answer_by_its_last_words_and_label(request_, criterion, quote, names):
    assert names_an_answer(Reply(("First.", criterion), "A"), request_, quote) == names
    assert not names_an_answer(Reply((criterion, "Last."), "A"), request_, quote)


def test_a_judge_that_is_to_name_an_answer_has_no_verdict_without(rewarded):
    texts = ["1. It is usual: Bow. (A)\nVerdict: A", "1. It is usual: Shake hands. (B)\nVerdict: B",
             "1. It is usual.\nVerdict: A"]  # fmt: skip
    right, helps, form, logged = rewarded("AAA", *texts, quote=24)
    assert (right, form) == ([1.0, -1.0, -1.0], [1.0, 1.0, -1.0])
    assert helps[2] == min(helps[:2])
    assert logged == {f"faults/{UNNAMED}": pytest.approx(1 / 3)}


def test_judges_without_criteria_are_rewarded_for_a_verdict_alone(rewarded):
    right, helps, form, _ = rewarded("AA", "Verdict: A", "Verdict:", criteria=False, model=None)
    assert (right, helps, form) == ([1.0, -1.0], [0.0, 0.0], [1.0, -1.0])
