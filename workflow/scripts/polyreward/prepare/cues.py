"""Test whether answers give pairs away: the accuracy of classifiers that see no prompt, by section and
language.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

FOLDS = 5
UNSPACED = (
    "ja",
    "th",
    "zh",
)  # languages that set no spaces between words: their words are one and two characters
CUE_COLUMNS = ["language", "section", "classifier", "features", "trained_on", "accuracy_pct", "n_templates"]

Texts = Sequence[str]
Fit = Callable[[Texts, Texts, dict], Callable[[Texts], np.ndarray]]


def cue_table(pool: Sequence[dict], rows: Sequence[dict], language: str) -> pd.DataFrame:
    """Return the accuracy (%) of answer-only classifiers in each section of an evaluation set (CUE_COLUMNS).

    Training is on the "pool", or by cross-validation on the "section"'s other templates. A template counts
    once with any number of rows. A tie counts half.

    Args:
        pool, rows: prepared rows of one language (template, subset, category, chosen, rejected).
    """
    records = []
    for section in dict.fromkeys(row["category"] for row in rows):
        inside = [row for row in rows if row["category"] == section]
        for name, fit in CLASSIFIERS.items():
            for features, options in _features(language).items():
                rights = {
                    "pool": _right(fit(*_answers(pool), options), inside),
                    "section": _cross_validated(fit, inside, options),
                }
                for trained_on, right in rights.items():
                    of_template = pd.Series(right).groupby([row["template"] for row in inside]).mean()
                    found = {"accuracy_pct": 100 * of_template.mean(), "n_templates": len(of_template)}
                    records.append(
                        {
                            "language": language,
                            "section": section,
                            "classifier": name,
                            "features": features,
                            "trained_on": trained_on,
                            **found,
                        }
                    )
    return pd.DataFrame(records, columns=CUE_COLUMNS)


def worst_cues(table: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy (%) farthest from chance, by section and language."""
    table = table.reset_index(drop=True)
    farthest = table.loc[
        (table["accuracy_pct"] - 50).abs().groupby([table["section"], table["language"]], sort=False).idxmax()
    ]
    return farthest.pivot(index="section", columns="language", values="accuracy_pct")


def _features(language: str) -> dict[str, dict]:
    words = (
        {"analyzer": "char", "ngram_range": (1, 2)}
        if language in UNSPACED
        else {"token_pattern": r"\w+", "ngram_range": (1, 1)}
    )
    return {"words": words, "characters": {"analyzer": "char", "ngram_range": (2, 4)}}


def _answers(rows: Sequence[dict]) -> tuple[Texts, Texts]:
    return [row["chosen"] for row in rows], [row["rejected"] for row in rows]


def _naive_bayes(chosen: Texts, rejected: Texts, options: dict) -> Callable[[Texts], np.ndarray]:
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform([*chosen, *rejected])
    model = MultinomialNB().fit(counts, [1] * len(chosen) + [0] * len(rejected))

    def score(texts: Texts) -> np.ndarray:
        odds = model.predict_log_proba(vectorizer.transform(texts))
        return odds[:, 1] - odds[:, 0]

    return score


def _logistic(chosen: Texts, rejected: Texts, options: dict) -> Callable[[Texts], np.ndarray]:
    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    weights = vectorizer.fit_transform([*chosen, *rejected])
    difference = weights[: len(chosen)] - weights[len(chosen) :]
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, solver="liblinear", dual=True, random_state=0)
    model.fit(both, np.repeat([1, 0], len(chosen)))
    return lambda texts: model.decision_function(vectorizer.transform(texts))


CLASSIFIERS: dict[str, Fit] = {"naive Bayes": _naive_bayes, "logistic regression": _logistic}


def _right(score: Callable[[Texts], np.ndarray], rows: Sequence[dict]) -> np.ndarray:
    chosen, rejected = (score(texts).round(9) for texts in _answers(rows))
    return np.where(chosen == rejected, 0.5, chosen > rejected)


def _cross_validated(fit: Fit, rows: Sequence[dict], options: dict) -> np.ndarray:
    right, folds = np.zeros(len(rows)), _folds(rows)
    for fold in sorted(set(folds)):
        inside = np.flatnonzero(folds == fold)
        fitted = fit(
            *_answers([row for row, other in zip(rows, folds, strict=True) if other != fold]), options
        )
        right[inside] = _right(fitted, [rows[place] for place in inside])
    return right


def _folds(rows: Sequence[dict]) -> np.ndarray:
    """Return each row's fold; templates of each kind are assigned in turn.

    A refusal is right in one subset and wrong in another. A classifier that has seen more of one would be
    below chance on the other, so each fold leaves out equally many. Families, which have both, are kinds of
    their own.
    """
    chosen = {(row["template"], row["chosen"]) for row in rows}
    kinds: dict[tuple[str, bool], list[str]] = {}
    for name, row in {row["template"]: row for row in reversed(rows)}.items():
        kinds.setdefault((row["subset"], (name, row["rejected"]) in chosen), []).append(name)
    dealt = {name: place % FOLDS for names in kinds.values() for place, name in enumerate(sorted(names))}
    return np.array([dealt[row["template"]] for row in rows])
