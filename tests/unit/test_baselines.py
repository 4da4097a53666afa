"""Baselines: known answers, and loops written by hand."""

import numpy as np
import pandas as pd
import pytest
import torch
from models import ROOT, ROWS, TEMPLATE_SCHEMA
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.accuracy import correctness
from polyreward.baselines import (
    base_scores,
    frozen_features,
    length_scores,
    loglik_scores,
    mean_loglik,
    probe_scores,
    tfidf_scores,
)
from polyreward.conversations import answer_start, conversation_ids
from polyreward.templates import data_files, expanded, read_templates


def rows_of(name):
    return expanded(read_templates(data_files(ROOT / "resources/mini" / name), TEMPLATE_SCHEMA), name)


def accuracy(scores) -> float:
    return correctness(pd.DataFrame(dict(zip(("score_chosen", "score_rejected"), scores, strict=True))), "half").mean()


@pytest.fixture
def causal(base):
    """A tiny causal LM and its tokenizer, whose pad token is none of the texts' tokens."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = "<s>"
    return AutoModelForCausalLM.from_pretrained(base).eval(), tokenizer


def test_length_counts_characters():
    chosen, rejected = length_scores([{"chosen": "abc", "rejected": ""}, {"chosen": "한국어 é", "rejected": "a\nb "}])
    assert list(chosen) == [3, 5]
    assert list(rejected) == [0, 4]


@pytest.mark.parametrize("with_prompt", [False, True])
def test_tfidf_learns_a_word_that_tells_chosen_from_rejected(with_prompt):
    animals = ["dog", "cat", "cow", "owl", "bee"]
    rows = [{"prompt": "Ask", "chosen": f"a kind {animal}", "rejected": f"a rude {animal}"} for animal in animals]
    assert accuracy(tfidf_scores(rows[:3], rows[3:], with_prompt, 1)) == 1


def test_tfidf_of_the_answer_alone_is_exactly_at_chance_on_swapped_twins():
    twins = rows_of("twins")
    scores = tfidf_scores(rows_of("pool")[:60], twins, False, 1)
    assert len(twins) > 10
    assert np.abs(scores[0] - scores[1]).max() > 1e-6  # not at chance by ties
    assert accuracy(scores) == 0.5


def test_tfidf_reads_the_prompt_only_where_it_is_asked_to():
    train = [{**row, "prompt": "something else"} for row in ROWS]
    answer, both = (tfidf_scores(ROWS, ROWS, with_prompt, 1)[0] for with_prompt in (False, True))
    assert np.array_equal(answer, tfidf_scores(train, train, False, 1)[0])
    assert not np.allclose(both, tfidf_scores(train, train, True, 1)[0])


def test_probe_gets_all_of_separable_data():
    generator = np.random.default_rng(1)
    features = generator.normal(size=(200, 2, 8))
    features[:, 0, 3] += 20
    assert accuracy(probe_scores(features[:100], features[100:], 1)) == 1


def test_probe_is_near_chance_on_noise():
    features = np.random.default_rng(1).normal(size=(1000, 2, 4))
    assert accuracy(probe_scores(features[:500], features[500:], 1)) == pytest.approx(0.5, abs=0.1)


def test_frozen_features_are_the_mean_last_state_of_the_answer(causal):
    model, tokenizer = causal
    features = frozen_features(model, tokenizer, ROWS, 128, 200)
    assert features.shape == (len(ROWS), 2, model.config.hidden_size)
    for row, pair in zip(ROWS, features, strict=True):
        for role, feature in zip(("chosen", "rejected"), pair, strict=True):
            ids, _ = conversation_ids(tokenizer, row["prompt"], row[role], 128)
            with torch.no_grad():
                states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0]
            expected = states[answer_start(tokenizer, row["prompt"], ids) :].mean(dim=0).numpy()
            assert feature == pytest.approx(expected, abs=1e-5)


def loglik_by_hand(model, ids, start) -> float:
    with torch.no_grad():
        logprobs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1)
    return sum(logprobs[place - 1, ids[place]].item() for place in range(start, len(ids))) / (len(ids) - start)


@pytest.mark.parametrize("token_budget", [1, 1000])
def test_mean_loglik_equals_a_loop_over_log_softmax(causal, token_budget):
    model, _ = causal
    spans = [([5, 6, 7, 8], 1), ([9, 10], 1), ([11, 12, 13, 14, 15, 16, 17], 4), ([5, 6, 7, 8], 3)]
    expected = [loglik_by_hand(model, *span) for span in spans]
    assert mean_loglik(model, spans, 0, token_budget, "") == pytest.approx(expected, abs=1e-5)


def test_loglik_is_that_of_the_answer_and_pmi_its_gain_over_no_prompt(causal):
    model, tokenizer = causal
    scores = loglik_scores(model, tokenizer, ROWS, 128, 200, "")
    for column, role in enumerate(("chosen", "rejected")):
        for number, row in enumerate(ROWS):
            with_prompt, without = (
                loglik_by_hand(model, ids, answer_start(tokenizer, prompt, ids))
                for prompt in (row["prompt"], "")
                for ids in [conversation_ids(tokenizer, prompt, row[role], 128)[0]]
            )
            assert scores["loglik"][column][number] == pytest.approx(with_prompt, abs=1e-5)
            assert scores["pmi"][column][number] == pytest.approx(with_prompt - without, abs=1e-5)


@pytest.mark.parametrize("max_length", [2, 9])
def test_truncated_conversations_still_have_scores(causal, max_length):
    model, tokenizer = causal
    assert np.isfinite(frozen_features(model, tokenizer, ROWS, max_length, 200)).all()
    assert np.isfinite(loglik_scores(model, tokenizer, ROWS, max_length, 200, "")["loglik"]).all()


def test_base_scores_gives_probe_loglik_and_pmi_of_each_benchmark_in_order(base, causal):
    limits = {"dtype": "float32", "max_length": 128, "token_budget": 200}
    benchmarks = [ROWS[:2], ROWS[3:]]
    found = list(base_scores(base, [ROWS], benchmarks, limits, 1))
    assert [rows for rows, _, _ in found] == [rows for rows in benchmarks for _ in range(3)]
    by_hand = loglik_scores(*causal, ROWS[3:], 128, 200, "")
    for (_, chosen, rejected), expected in zip(found[4:], (by_hand["loglik"], by_hand["pmi"]), strict=True):
        assert chosen == pytest.approx(expected[0], abs=1e-5)
        assert rejected == pytest.approx(expected[1], abs=1e-5)
