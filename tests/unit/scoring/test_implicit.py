"""Implicit rewards against loops written by hand."""

import dataclasses

import pytest
import torch
from tiny_models import ROWS
from transformers import AutoModelForCausalLM

from polyreward.core.conversations import answer_start, conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.scoring import loglik
from polyreward.scoring.implicit import (
    LogLikelihood,
    LogRatio,
    MutualInformation,
    check_same_tokens,
    implicit,
)
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.loglik import causal_lm
from polyreward.scoring.pairs import score_rows

SCORES = ["score_chosen", "score_rejected"]


@pytest.fixture
def lm(base):
    return load_causal_lm(base, "float32", 128, 200)


def moved(lm, seed=1):
    """Return a copy of a causal LM whose output embedding is another, as a reference to compare with."""
    model = AutoModelForCausalLM.from_pretrained(lm.model.name_or_path).eval()
    with torch.no_grad():
        weight = model.get_output_embeddings().weight
        weight += torch.randn(weight.shape, generator=torch.Generator().manual_seed(seed)) * 0.1
    return causal_lm(model, lm.tokenizer, lm.max_length, lm.token_budget)


def logliks(lm, row, role):
    """Return the log-probability of each token of an answer."""
    ids = conversation_ids(lm.tokenizer, row["prompt"], row[role], 999)[0]
    with torch.no_grad():
        logprobs = torch.log_softmax(lm.model(torch.tensor([ids])).logits[0].double(), dim=-1)
    return [
        logprobs[n - 1, ids[n]].item()
        for n in range(answer_start(lm.tokenizer, row["prompt"], ids), len(ids))
    ]


def mean(values):
    return sum(values) / len(values)


@pytest.mark.parametrize(
    "changes", [{}, {"share": False}, {"share": False, "plain_head": False}, {"token_budget": 1}], ids=str
)
def test_log_likelihood_is_the_mean_over_the_answer_s_tokens(lm, changes):
    table = score_rows(LogLikelihood(dataclasses.replace(lm, **changes)), ROWS, "")
    for row, (_, found) in zip(ROWS, table.iterrows(), strict=True):
        assert found["score_chosen"] == pytest.approx(mean(logliks(lm, row, "chosen")), abs=1e-5)
        assert found["score_rejected"] == pytest.approx(mean(logliks(lm, row, "rejected")), abs=1e-5)


@pytest.mark.parametrize("together", [1, 7, 999])
@pytest.mark.parametrize("part", [64, 99_999])
@pytest.mark.parametrize("each", [(), (3,)])
def test_parts_of_the_vocabulary_give_what_all_of_it_at_once_gives(lm, monkeypatch, together, part, each):
    monkeypatch.setattr(loglik, "TOGETHER", together)
    monkeypatch.setattr(loglik, "VOCABULARY_PART", part)
    generator = torch.Generator().manual_seed(1)
    size, width = lm.model.get_output_embeddings().weight.shape
    found = [
        (torch.randn(n, width, generator=generator), torch.randint(size, (n, *each), generator=generator), n)
        for n in (3, 0, 9, 1, 2)
    ]
    given = list(loglik.token_logprobs(lm, iter(found)))
    assert [number for _, number in given] == [n for *_, n in found]
    for (states, tokens, _), (logprobs, _) in zip(found, given, strict=True):
        expected = torch.log_softmax(lm.model.get_output_embeddings()(states).detach(), dim=-1)
        expected = expected.gather(1, tokens.reshape(len(tokens), *(each or (1,)))).reshape(tokens.shape)
        torch.testing.assert_close(logprobs, expected, atol=1e-5, rtol=0)


def test_log_ratio_is_beta_times_the_difference_of_sums(lm):
    reference = moved(lm)
    table = score_rows(LogRatio(lm, reference, 0.5), ROWS, "")
    for row, (_, found) in zip(ROWS, table.iterrows(), strict=True):
        for role in ("chosen", "rejected"):
            expected = 0.5 * (sum(logliks(lm, row, role)) - sum(logliks(reference, row, role)))
            assert found[f"score_{role}"] == pytest.approx(expected, abs=1e-4)
    assert table[SCORES].abs().to_numpy().max() > 1e-2


def test_a_policy_that_is_its_reference_ties_everywhere(lm):
    table = score_rows(LogRatio(lm, lm, 0.1), ROWS, "")
    assert (table["score_chosen"] == table["score_rejected"]).all()


def test_soft_capped_logits_are_those_of_the_model(lm):
    capped = moved(lm)
    capped.model.config.final_logit_softcapping = 0.5  # Gemma heeds it, Llama does not
    found = causal_lm(capped.model, lm.tokenizer, 128, 200)
    assert found.plain_head == (capped.model.config.model_type == "gemma3_text")
    table = score_rows(LogLikelihood(found), ROWS[:1], "")
    assert table["score_chosen"][0] == pytest.approx(mean(logliks(found, ROWS[0], "chosen")), abs=1e-5)


def test_scaled_logits_are_run_through_the_whole_model(lm):
    scaled = moved(lm)
    forward = scaled.model.forward

    def twice(*args, **kwargs):
        found = forward(*args, **kwargs)
        found["logits"] = found.logits * 2
        return found

    scaled.model.forward = twice
    found = causal_lm(scaled.model, lm.tokenizer, 128, 200)
    assert not found.plain_head
    table = score_rows(LogLikelihood(found), ROWS, "")
    assert table["score_chosen"][0] == pytest.approx(mean(logliks(found, ROWS[0], "chosen")), abs=1e-5)


def test_a_cut_conversation_counts_all_that_is_left(lm):
    short = dataclasses.replace(lm, max_length=6)
    table = score_rows(LogLikelihood(short), ROWS[:1], "")
    ids = conversation_ids(lm.tokenizer, ROWS[0]["prompt"], ROWS[0]["chosen"], 6)[0]
    with torch.no_grad():
        logprobs = torch.log_softmax(lm.model(torch.tensor([ids])).logits[0].double(), dim=-1)
    assert table["score_chosen"][0] == pytest.approx(
        mean([logprobs[n - 1, ids[n]].item() for n in range(1, 6)]), abs=1e-5
    )
    assert table["truncated_share"][0] == 1


def test_a_reference_of_another_vocabulary_is_refused(lm, bases):
    class Shouting:
        def encode(self, text):
            return lm.tokenizer.encode(text.upper())

    check_same_tokens(lm, lm, "mine")
    with pytest.raises(PolyrewardError, match=r"mine: the reference reads text as other tokens"):
        check_same_tokens(lm, dataclasses.replace(lm, tokenizer=Shouting()), "mine")


def test_bfloat16_is_not_exact(base):
    assert not LogLikelihood(load_causal_lm(base, "bfloat16", 128, 200)).exact
    assert LogLikelihood(load_causal_lm(base, "float32", 128, 200)).exact


@pytest.mark.parametrize("changes", [{}, {"share": False}], ids=str)
def test_mutual_information_is_what_the_prompt_adds(base, lm, changes):
    scorer = MutualInformation(dataclasses.replace(lm, **changes))
    for reward_model in (scorer, scorer.unbatched()):
        table = score_rows(reward_model, ROWS, "")
        for row, (_, found) in zip(ROWS, table.iterrows(), strict=True):
            for column, role in zip(SCORES, ("chosen", "rejected"), strict=True):
                gain = mean(logliks(lm, row, role)) - mean(logliks(lm, {**row, "prompt": ""}, role))
                assert found[column] == pytest.approx(gain, abs=1e-5)
    entry = {"kind": "implicit", "source": base, "pmi": True}
    assert isinstance(
        implicit(entry, {"dtype": "float32", "max_length": 99, "token_budget": 99}, None), MutualInformation
    )
