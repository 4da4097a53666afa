"""Baselines, never tuned: what a score is worth without reading, and without training."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.batches import padded, token_budget_batches
from polyreward.conversations import answer_start, conversation_ids
from polyreward.logs import announce

Scores = tuple[np.ndarray, np.ndarray]


def length_scores(rows: Sequence[dict]) -> Scores:
    """Score an answer by its number of characters: (chosen, rejected)."""
    return tuple(np.array([float(len(row[role])) for row in rows]) for role in ("chosen", "rejected"))


def tfidf_scores(train: Sequence[dict], rows: Sequence[dict], with_prompt: bool, seed: int) -> Scores:
    """Score by character 2-5-grams, TF-IDF weighted, under a Bradley-Terry logistic regression fitted on `train`.

    with_prompt: the text is the prompt, a line break and the answer; else the answer alone."""
    text: Callable = (lambda row, role: f"{row['prompt']}\n{row[role]}") if with_prompt else (lambda row, role: row[role])
    texts = {role: [text(row, role) for row in train] for role in ("chosen", "rejected")}
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 5), sublinear_tf=True).fit(texts["chosen"] + texts["rejected"])
    difference = vectorizer.transform(texts["chosen"]) - vectorizer.transform(texts["rejected"])
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, max_iter=1000, random_state=seed)
    model.fit(both, _labels(difference.shape[0]))
    return tuple(
        model.decision_function(vectorizer.transform([text(row, role) for row in rows])) for role in ("chosen", "rejected")
    )


def probe_scores(train: np.ndarray, rows: np.ndarray, seed: int) -> Scores:
    """Score by a Bradley-Terry logistic regression on frozen features.

    train, rows: (pairs, 2, features), chosen first, as `frozen_features` gives them."""
    difference = train[:, 0] - train[:, 1]
    model = make_pipeline(
        StandardScaler(with_mean=False),
        LogisticRegression(C=1e-3, fit_intercept=False, max_iter=2000, random_state=seed),
    )
    model.fit(np.vstack([difference, -difference]), _labels(len(difference)))
    return model.decision_function(rows[:, 0]), model.decision_function(rows[:, 1])


@torch.inference_mode()
def frozen_features(model, tokenizer, rows: Sequence[dict], max_length: int, token_budget: int) -> np.ndarray:
    """Mean last hidden state over the answer's tokens under an untrained base; returns (pairs, 2, d_model).

    model: a causal LM."""
    decoder = model.get_decoder()
    spans = [_answer_span(tokenizer, row["prompt"], row[role], max_length) for row in rows for role in ("chosen", "rejected")]
    features = np.zeros((len(spans), model.config.hidden_size))
    for batch in token_budget_batches([len(ids) for ids, _ in spans], token_budget):
        inputs = padded([spans[i][0] for i in batch], tokenizer.pad_token_id, model.device)
        states = decoder(**inputs, use_cache=False).last_hidden_state
        for row, index in enumerate(batch):
            ids, start = spans[index]
            features[index] = states[row, start : len(ids)].float().mean(dim=0).cpu().numpy()
    return features.reshape(len(rows), 2, -1)


def loglik_scores(model, tokenizer, rows: Sequence[dict], max_length: int, token_budget: int, label: str) -> dict[str, Scores]:
    """Score answers by a causal LM; returns {"loglik": ..., "pmi": ...}.

    loglik: mean log-likelihood of the answer's tokens (nats) given the prompt. pmi: its gain over the same answer after an
    empty prompt."""
    given = [_answer_span(tokenizer, row["prompt"], row[role], max_length) for row in rows for role in ("chosen", "rejected")]
    alone = [_answer_span(tokenizer, "", row[role], max_length) for row in rows for role in ("chosen", "rejected")]
    with_prompt = mean_loglik(model, given, tokenizer.pad_token_id, token_budget, f"{label}: log-likelihood")
    without = mean_loglik(model, alone, tokenizer.pad_token_id, token_budget, f"{label}: log-likelihood without prompt")
    gain = with_prompt - without
    return {"loglik": (with_prompt[0::2], with_prompt[1::2]), "pmi": (gain[0::2], gain[1::2])}


@torch.inference_mode()
def mean_loglik(model, spans: Sequence[tuple[list[int], int]], pad_token_id: int, token_budget: int, label: str) -> np.ndarray:
    """Mean log-probability (nats per token) of each sequence's tokens from its start on; spans: (ids, start)."""
    decoder, head = model.get_decoder(), model.get_output_embeddings()
    means, done = np.zeros(len(spans)), 0
    for batch in token_budget_batches([len(ids) for ids, _ in spans], token_budget):
        inputs = padded([spans[i][0] for i in batch], pad_token_id, model.device)
        states = decoder(**inputs, use_cache=False).last_hidden_state
        for row, index in enumerate(batch):
            ids, start = spans[index]
            # Only the answer's positions meet the vocabulary, one sequence at a time: logits are what fills memory.
            logits = head(states[row, start - 1 : len(ids) - 1]).float()
            answer = torch.tensor(ids[start:], device=logits.device)
            means[index] = -torch.nn.functional.cross_entropy(logits, answer).item()
        done += len(batch)
        announce(f"{label}: {done}/{len(spans)} sequences")
    return means


def base_scores(
    base_folder: str | Path, train: Sequence[Sequence[dict]], benchmarks: Sequence[Sequence[dict]], scoring: dict, seed: int
) -> Iterator[tuple[Sequence[dict], np.ndarray, np.ndarray]]:
    """Yield (rows, chosen, rejected) for each benchmark under probe, loglik and pmi, in that order.

    train: the training rows of each language. benchmarks: as many for each language, in the languages' order.
    scoring: {dtype, max_length, token_budget}, as config.yaml has it."""
    tokenizer = AutoTokenizer.from_pretrained(base_folder)
    model = AutoModelForCausalLM.from_pretrained(base_folder, dtype=getattr(torch, scoring["dtype"])).eval()
    limits = (scoring["max_length"], scoring["token_budget"])
    of_each = len(benchmarks) // len(train)
    for number, rows in enumerate(benchmarks):
        if number % of_each == 0:
            trained_on = frozen_features(model, tokenizer, train[number // of_each], *limits)
        yield rows, *probe_scores(trained_on, frozen_features(model, tokenizer, rows, *limits), seed)
        for scores in loglik_scores(model, tokenizer, rows, *limits, str(base_folder)).values():
            yield rows, *scores


def _answer_span(tokenizer, prompt, answer: str, max_length: int) -> tuple[list[int], int]:
    ids, truncated = conversation_ids(tokenizer, prompt, answer, max_length)
    if truncated:
        return ids, 1  # the prompt may be cut away whole: all that is left counts
    return ids, min(answer_start(tokenizer, prompt, ids), len(ids) - 1)


def _labels(pairs: int) -> np.ndarray:
    return np.repeat([1, 0], pairs)
