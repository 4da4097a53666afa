"""Baselines, never tuned: what a score is worth without reading, and without training."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyreward.conversations import as_text
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.loglik import CausalLM, answer_logliks, answer_states
from polyreward.scoring.tokens import Tokenized, tokenized

Pairs = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True)
class TextScorer:
    """A baseline that sees text only. of_texts: from [(prompt, answer)] to one value each."""

    of_texts: Callable[[Sequence[tuple[str, str]]], np.ndarray]
    exact = True

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its text."""
        texts = [(as_text(prompt), answer) for prompt, answers in conversations for answer in answers]
        values = np.split(self.of_texts(texts), np.cumsum([len(answers) for _, answers in conversations])[:-1])
        return Scores(values, [np.zeros(len(of_prompt), dtype=bool) for of_prompt in values])

    def alone(self) -> "TextScorer":
        """Return itself: it has no batches."""
        return self


def length_baseline() -> TextScorer:
    """Score an answer by its number of characters."""
    return TextScorer(lambda texts: np.array([float(len(answer)) for _, answer in texts]))


def tfidf_baseline(train: Sequence[dict], with_prompt: bool, seed: int) -> TextScorer:
    """Score by character 2-5-grams, TF-IDF weighted, under a Bradley-Terry logistic regression fitted on `train`.

    with_prompt: the text is the prompt, a line break and the answer; else the answer alone."""

    def text(prompt: str, answer: str) -> str:
        return f"{prompt}\n{answer}" if with_prompt else answer

    texts = {role: [text(as_text(row["prompt"]), row[role]) for row in train] for role in ("chosen", "rejected")}
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 5), sublinear_tf=True).fit(texts["chosen"] + texts["rejected"])
    difference = vectorizer.transform(texts["chosen"]) - vectorizer.transform(texts["rejected"])
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, max_iter=1000, random_state=seed)
    model.fit(both, _labels(difference.shape[0]))
    return TextScorer(lambda texts: model.decision_function(vectorizer.transform([text(*pair) for pair in texts])))


def probe_scores(train: np.ndarray, rows: np.ndarray, seed: int) -> Pairs:
    """Score by a Bradley-Terry logistic regression on frozen features.

    train, rows: (pairs, 2, features), chosen first, as `frozen_features` gives them."""
    difference = train[:, 0] - train[:, 1]
    model = make_pipeline(
        StandardScaler(with_mean=False),
        LogisticRegression(C=1e-3, fit_intercept=False, max_iter=2000, random_state=seed),
    )
    model.fit(np.vstack([difference, -difference]), _labels(len(difference)))
    return model.decision_function(rows[:, 0]), model.decision_function(rows[:, 1])


def frozen_features(lm: CausalLM, rows: Sequence[dict], label: str) -> np.ndarray:
    """Mean last hidden state over the answer's tokens under an untrained base; returns (pairs, 2, d_model)."""
    texts = _texts(lm, rows, with_prompt=True)
    means = {place: states[start:].float().mean(dim=0) for place, start, states in answer_states(lm, texts, label)}
    return _of_pairs(texts, means)


def base_statistics(lm: CausalLM, rows: Sequence[dict], label: str) -> dict[str, np.ndarray]:
    """Return what an untrained base says of each row's two answers, chosen first.

    feature: mean last hidden state over the answer's tokens (pairs, 2, d_model). loglik: mean log-likelihood of its tokens
    given the prompt (nats; pairs, 2). pmi: the gain of loglik over the same answer after an empty prompt."""
    texts, alone = (_texts(lm, rows, with_prompt) for with_prompt in (True, False))
    given = {found.place: found for found in answer_logliks(lm, texts, label)}
    without = {found.place: found.total / found.tokens for found in answer_logliks(lm, alone, f"{label}, without prompts")}
    loglik = _of_pairs(texts, {place: found.total / found.tokens for place, found in given.items()})
    return {
        "feature": _of_pairs(texts, {place: found.feature for place, found in given.items()}),
        "loglik": loglik,
        "pmi": loglik - _of_pairs(alone, without),
    }


def base_scores(
    base_folder: str | Path, train: Sequence[Sequence[dict]], benchmarks: Sequence[Sequence[dict]], scoring: dict, seed: int
) -> Iterator[tuple[Sequence[dict], np.ndarray, np.ndarray]]:
    """Yield (rows, chosen, rejected) for each benchmark under probe, loglik and pmi, in that order.

    train: the training rows of each language. benchmarks: as many for each language, in the languages' order.
    scoring: {dtype, max_length, token_budget, attention}, as config.yaml has it."""
    lm, label = load_causal_lm(base_folder, **scoring), Path(base_folder).name
    of_each = len(benchmarks) // len(train)
    for number, rows in enumerate(benchmarks):
        if number % of_each == 0:
            trained_on = frozen_features(lm, train[number // of_each], f"{label}, training set {number // of_each + 1}")
        found = base_statistics(lm, rows, f"{label}, benchmark {number + 1} of {len(benchmarks)}")
        yield rows, *probe_scores(trained_on, found["feature"], seed)
        yield from ((rows, found[kind][:, 0], found[kind][:, 1]) for kind in ("loglik", "pmi"))


def _texts(lm: CausalLM, rows: Sequence[dict], with_prompt: bool) -> Tokenized:
    conversations = [Conversations(row["prompt"] if with_prompt else "", (row["chosen"], row["rejected"])) for row in rows]
    return tokenized(lm.tokenizer, conversations, lm.max_length)


def _of_pairs(texts: Tokenized, values: dict) -> np.ndarray:
    return np.array([[np.asarray(values[place]) for place in places] for places in texts.places])


def _labels(pairs: int) -> np.ndarray:
    return np.repeat([1, 0], pairs)
