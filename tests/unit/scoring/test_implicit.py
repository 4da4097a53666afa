"""Implicit rewards against loops written by hand."""

import dataclasses

import numpy as np
import pytest
import torch
from tiny_models import ROWS, scores_of
from transformers import AutoModelForCausalLM

from polyreward.core.conversations import answer_start, conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.scoring import implicit, loglik
from polyreward.scoring.implicit import LogLikelihood, LogRatio, MutualInformation
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.loglik import causal_lm
from polyreward.scoring.pairs import score_rows


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


def logliks(lm, row, role, max_length=999):
    """Return the log-probability of each token of an answer; of a cut one, of all that is left."""
    ids, cut = conversation_ids(lm.tokenizer, row["prompt"], row[role], max_length)
    with torch.no_grad():
        logprobs = torch.log_softmax(lm.model(torch.tensor([ids])).logits[0].double(), dim=-1)
    start = 1 if cut else answer_start(lm.tokenizer, row["prompt"], ids)
    return [logprobs[n - 1, ids[n]].item() for n in range(start, len(ids))]


def by_hand(lm, total=np.mean, rows=ROWS) -> np.ndarray:
    """Return the mean or the sum of each answer's log-probabilities (rows, 2)."""
    return np.array([[total(logliks(lm, row, role)) for role in ("chosen", "rejected")] for row in rows])


@pytest.mark.parametrize(
    "changes", [{}, {"share": False}, {"share": False, "plain_head": False}, {"token_budget": 1}], ids=str
)
def test_log_likelihood_is_the_mean_over_the_answer_s_tokens(lm, changes):
    found = scores_of(LogLikelihood(dataclasses.replace(lm, **changes)))
    assert found == pytest.approx(by_hand(lm), abs=1e-5)


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
    found, expected = scores_of(LogRatio(lm, reference, 0.5)), by_hand(lm, sum) - by_hand(reference, sum)
    assert found == pytest.approx(0.5 * expected, abs=1e-4)
    assert np.abs(found).max() > 1e-2
    assert np.ptp(scores_of(LogRatio(lm, lm, 0.1)), axis=1).max() == 0


@pytest.mark.parametrize("change", ["soft caps", "twice the logits"])
def test_logits_that_are_not_the_head_s_own_are_those_of_the_model(lm, change):
    model = moved(lm).model
    forward = model.forward

    def twice(*args, **kwargs):
        found = forward(*args, **kwargs)
        found["logits"] = found.logits * 2
        return found

    if change == "soft caps":
        model.config.final_logit_softcapping = 0.5  # Gemma heeds it, Llama does not
    else:
        model.forward = twice
    found = causal_lm(model, lm.tokenizer, 128, 200)
    assert found.plain_head == (change == "soft caps" and model.config.model_type == "gemma3_text")
    assert scores_of(LogLikelihood(found)) == pytest.approx(by_hand(found), abs=1e-5)


def test_a_cut_conversation_counts_all_that_is_left(lm):
    table = score_rows(LogLikelihood(dataclasses.replace(lm, max_length=6)), ROWS[:1], "")
    assert table["score_chosen"][0] == pytest.approx(np.mean(logliks(lm, ROWS[0], "chosen", 6)), abs=1e-5)
    assert table["truncated_share"][0] == 1


def test_a_reference_of_another_vocabulary_is_refused(lm, monkeypatch):
    class Shouting:
        def encode(self, text):
            return lm.tokenizer.encode(text.upper())

    loaded = {"mine": lm, "another": dataclasses.replace(lm, tokenizer=Shouting())}
    monkeypatch.setattr(implicit, "causal_lm_of", lambda entry, scoring: loaded[entry["source"]])
    for reference in ("mine", "another"):
        entry = {"source": "mine", "reference": {"source": reference}}
        if reference == "mine":
            assert implicit.load(entry, {}, None) == LogRatio(lm, lm, 0.1)
        else:
            with pytest.raises(PolyrewardError, match=r"mine: the reference reads text as other tokens"):
                implicit.load(entry, {}, None)


@pytest.mark.parametrize("changes", [{}, {"share": False}, {"token_budget": 1}], ids=str)
def test_mutual_information_is_what_the_prompt_adds(base, lm, changes):
    gained = by_hand(lm) - by_hand(lm, rows=[{**row, "prompt": ""} for row in ROWS])
    assert scores_of(MutualInformation(dataclasses.replace(lm, **changes))) == pytest.approx(gained, abs=1e-5)
