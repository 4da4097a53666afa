"""Baselines: known answers, and loops written by hand."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from support import script
from tiny_models import ROOT, ROWS, TEMPLATE_SCHEMA
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.analysis.accuracy import correctness
from polyreward.core.conversations import answer_start, conversation_ids
from polyreward.core.files import write_jsonl
from polyreward.core.tables import read_scores
from polyreward.scoring.baselines import (
    frozen_features,
    length_baseline,
    probe_scores,
    shared_baseline,
    tfidf_baseline,
)
from polyreward.scoring.implicit import LogLikelihood, MutualInformation
from polyreward.scoring.interface import Conversations, conversations_of
from polyreward.scoring.loglik import causal_lm
from polyreward.sources.templates import data_files, expanded, read_templates


def rows_of(name):
    return expanded(read_templates(data_files(ROOT / "resources/mini" / name), TEMPLATE_SCHEMA), name)


def accuracy(scores) -> float:
    return correctness(
        pd.DataFrame(dict(zip(("score_chosen", "score_rejected"), scores, strict=True))), "half"
    ).mean()


def test_shared_counts_the_distinct_pieces_of_an_answer_that_the_prompt_has_too():
    answers = ("no", "In Spain!", "\u897f\u73ed\u7259")
    asked = [Conversations("In  Spain?", answers), Conversations("\u5728\u897f\u73ed\u7259", answers)]
    english, chinese = shared_baseline().score(asked, "").values
    # 5 letters and the space, and 6 pairs and 6 threes of them; of "no" only the n
    assert list(english) == [1, 6 + 6 + 6, 0]
    assert list(chinese) == [0, 0, 3 + 2 + 1]


def text_scores(scorer, rows):
    """Return (chosen, rejected) scores of a text baseline."""
    rows = [{"prompt": "", **row} for row in rows]
    values = scorer.score(conversations_of(rows), "").values
    return np.array([own[0] for own in values]), np.array([own[1:].max() for own in values])


def tfidf_scores(train, rows, with_prompt, seed):
    return text_scores(tfidf_baseline(train, with_prompt, seed), rows)


@pytest.fixture
def lm(base):
    """A tiny causal LM whose pad token is none of the texts' tokens."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = "<s>"
    return causal_lm(AutoModelForCausalLM.from_pretrained(base).eval(), tokenizer, 128, 200)


def test_length_counts_characters():
    rows = [{"chosen": "abc", "rejected": ""}, {"chosen": "한국어 é", "rejected": ["a\nb ", "a"]}]
    chosen, rejected = text_scores(length_baseline(), rows)
    assert list(chosen) == [3, 5]
    assert list(rejected) == [0, 4]


@pytest.mark.parametrize("with_prompt", [False, True])
def test_tfidf_learns_a_word_that_tells_chosen_from_rejected(with_prompt):
    rows = [
        {"prompt": "Ask", "chosen": f"a kind {animal}", "rejected": f"a rude {animal}"}
        for animal in ("dog", "cat", "cow", "owl", "bee")
    ]
    assert accuracy(tfidf_scores(rows[:3], rows[3:], with_prompt, 1)) == 1


def test_tfidf_of_the_answer_alone_is_exactly_at_chance_on_swapped_twins():
    twins = rows_of("twins")
    scores = tfidf_scores(rows_of("pool")[:60], twins, False, 1)
    assert len(twins) > 10
    assert np.abs(scores[0] - scores[1]).max() > 1e-6  # not at chance by ties
    assert accuracy(scores) == 0.5


def test_tfidf_reads_the_prompt_only_where_it_is_asked_to_and_a_message_list_as_its_text():
    train = [{**row, "prompt": "something else"} for row in ROWS]
    answer, both = (tfidf_scores(ROWS, ROWS, with_prompt, 1)[0] for with_prompt in (False, True))
    assert np.array_equal(answer, tfidf_scores(train, train, False, 1)[0])
    assert not np.allclose(both, tfidf_scores(train, train, True, 1)[0])
    turns = [{"role": "user", "content": "a kind dog"}]
    asked, written = (
        {"prompt": prompt, "chosen": "yes", "rejected": "no"} for prompt in (turns, "user: a kind dog")
    )
    assert np.array_equal(tfidf_scores(ROWS, [asked], True, 1), tfidf_scores(ROWS, [written], True, 1))


def test_probe_gets_all_of_separable_data():
    generator = np.random.default_rng(1)
    features = generator.normal(size=(200, 2, 8))
    features[:, 0, 3] += 20
    assert accuracy(probe_scores(features[:100], features[100:], 1)) == 1


def test_features_are_the_mean_last_state_of_the_answer(lm):
    features = frozen_features(lm, ROWS, "")
    assert features.shape == (len(ROWS), 2, lm.model.config.hidden_size)
    for row, pair in zip(ROWS, features, strict=True):
        for role, feature in zip(("chosen", "rejected"), pair, strict=True):
            ids, _ = conversation_ids(lm.tokenizer, row["prompt"], row[role], 128)
            with torch.no_grad():
                states = lm.model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0]
            expected = states[answer_start(lm.tokenizer, row["prompt"], ids) :].mean(dim=0).numpy()
            assert feature == pytest.approx(expected, abs=1e-5)


def pmi(lm, rows) -> np.ndarray:
    return np.array(MutualInformation(lm).score(conversations_of(rows), "").values)


@pytest.mark.parametrize("max_length", [2, 9])
def test_truncated_conversations_still_have_scores(lm, max_length):
    short = dataclasses.replace(lm, max_length=max_length)
    assert np.isfinite(frozen_features(short, ROWS, "")).all()
    assert np.isfinite(pmi(short, ROWS)).all()


def test_probe_and_pmi_find_rows_and_log_likelihoods_by_name(tmp_path, base, lm):
    """Files are given in another order than their scores, and each benchmark has its own rows."""
    rows = {"one": ROWS[:2], "two": ROWS[3:]}
    for name, own in {**rows, "train": ROWS}.items():
        for language in ("es", "ko"):
            write_jsonl(own[::-1] if language == "ko" else own, tmp_path / f"{name}/{language}.jsonl")
    scoring = {"dtype": "float32", "max_length": 128, "token_budget": 200, "attention": "eager"}

    def files(name, order=("ko", "es")):
        return [tmp_path / f"{name}/{language}.jsonl" for language in order]

    def scores(name, kind, order=("es", "ko")):
        return [tmp_path / f"scores/{name}/{kind}-b/{language}.parquet" for language in order]

    for name in rows:
        inputs = SimpleNamespace(base=str(base), rows=files(name))
        outputs = SimpleNamespace(loglik=scores(name, "loglik"), pmi=scores(name, "pmi", ("ko", "es")))
        params = SimpleNamespace(scoring=scoring)
        script("score/base_likelihood_scores").main(
            SimpleNamespace(input=inputs, output=outputs, params=params)
        )
    inputs = SimpleNamespace(base=base, train=files("train"), rows=[*files("two"), *files("one")])
    params = SimpleNamespace(scoring=scoring, pairs=None, seed=1)
    outputs = [path for name in rows for path in scores(name, "probe")]
    script("score/base_probe_scores").main(SimpleNamespace(input=inputs, output=outputs, params=params))
    found = read_scores([*outputs, *scores("two", "loglik"), *scores("two", "pmi")]).set_index(
        ["benchmark", "scorer", "language", "id"]
    )
    found = found[["score_chosen", "score_rejected"]]
    for language in ("es", "ko"):
        of_rows = found.loc[[("two", "pmi-b", language, row["id"]) for row in ROWS[3:]]]
        assert of_rows.to_numpy() == pytest.approx(pmi(lm, ROWS[3:]), abs=1e-5)
        of_rows = found.loc[[("two", "loglik-b", language, row["id"]) for row in ROWS[3:]]]
        logliks = LogLikelihood(lm).score(conversations_of(ROWS[3:]), "").values
        assert of_rows.to_numpy() == pytest.approx(np.array(logliks), abs=1e-5)
    probe = probe_scores(frozen_features(lm, ROWS, ""), frozen_features(lm, ROWS[:2], ""), 1)
    of_rows = found.loc[[("one", "probe-b", "es", row["id"]) for row in ROWS[:2]]]
    assert of_rows.to_numpy() == pytest.approx(np.column_stack(probe), abs=1e-4)
