"""Baselines, never tuned: what a score is worth without reading, and without training."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyreward.core.conversations import as_text
from polyreward.core.writing import main_script, script_share
from polyreward.scoring.interface import Conversations, Scores, conversations_of
from polyreward.scoring.loglik import CausalLM, answer_states
from polyreward.scoring.tokens import tokenized


@dataclasses.dataclass(frozen=True)
class TextScorer:
    """A baseline that sees text only. of_texts: from [(prompt, answer)] to one value each."""

    of_texts: Callable[[Sequence[tuple[str, str]]], np.ndarray]
    exact = True

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer by its text."""
        texts = [(as_text(prompt), answer) for prompt, answers in conversations for answer in answers]
        values = np.split(
            self.of_texts(texts), np.cumsum([len(answers) for _, answers in conversations])[:-1]
        )
        return Scores(values, [np.zeros(len(of_prompt), dtype=bool) for of_prompt in values])


def length_baseline() -> TextScorer:
    """Score an answer by its number of characters."""
    return TextScorer(lambda texts: np.array([float(len(answer)) for _, answer in texts]))


def script_baseline() -> TextScorer:
    """Score an answer by the share of its letters in the prompt's script; 1 where it has none."""

    def share(prompt: str, answer: str) -> float:
        return float(np.nan_to_num(script_share(answer, main_script(prompt)), nan=1.0))

    return TextScorer(lambda texts: np.array([share(*pair) for pair in texts]))


def shared_baseline() -> TextScorer:
    """Score an answer by the number of distinct pieces of 1 to 3 characters that the prompt has, too."""

    def pieces(text: str) -> set[str]:
        text = " ".join(text.casefold().split())
        return {text[start : start + n] for n in (1, 2, 3) for start in range(len(text) - n + 1)}

    return TextScorer(
        lambda texts: np.array([float(len(pieces(prompt) & pieces(answer))) for prompt, answer in texts])
    )


def tfidf_baseline(train: Sequence[dict], with_prompt: bool, seed: int) -> TextScorer:
    """Score by TF-IDF of character 2-5-grams, under a Bradley-Terry logistic regression fitted on `train`.

    with_prompt: the text is the prompt, a line break and the answer; else only the answer."""

    def text(prompt: str, answer: str) -> str:
        return f"{prompt}\n{answer}" if with_prompt else answer

    chosen, rejected = (
        [text(as_text(row["prompt"]), row[role]) for row in train] for role in ("chosen", "rejected")
    )
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 5), sublinear_tf=True)
    vectorizer.fit(chosen + rejected)
    difference = vectorizer.transform(chosen) - vectorizer.transform(rejected)
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, max_iter=1000, random_state=seed)
    model.fit(both, _labels(difference.shape[0]))
    return TextScorer(
        lambda texts: model.decision_function(vectorizer.transform([text(*pair) for pair in texts]))
    )


def probe_scores(train: np.ndarray, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Score by a Bradley-Terry logistic regression on frozen features (pairs, 2, features), chosen first."""
    difference = train[:, 0] - train[:, 1]
    model = make_pipeline(
        StandardScaler(with_mean=False),
        LogisticRegression(C=1e-3, fit_intercept=False, max_iter=2000, random_state=seed),
    )
    model.fit(np.vstack([difference, -difference]), _labels(len(difference)))
    return model.decision_function(rows[:, 0]), model.decision_function(rows[:, 1])


def frozen_features(lm: CausalLM, rows: Sequence[dict], label: str) -> np.ndarray:
    """Return the mean last hidden state over each answer's tokens under an untrained base: (pairs, 2,
    d_model)."""
    texts = tokenized(lm, conversations_of(rows))
    found = {
        place: states[start:].float().mean(dim=0).cpu().numpy()
        for place, start, states in answer_states(lm, texts, label)
    }
    return np.array([[found[place] for place in places] for places in texts.places])


def _labels(pairs: int) -> np.ndarray:
    return np.repeat([1, 0], pairs)
