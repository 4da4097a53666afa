"""Do answers give pairs away? The accuracy of classifiers that see no prompt."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

FOLDS = 5
UNSPACED = ("ja", "th", "zh")  # without spaces between words, which are one or two characters


def accuracies(pool, rows, language) -> Iterator[tuple[tuple, float]]:
    """Yield ((section, classifier, features, trained on), %); a template counts once, a tie half."""
    for section in dict.fromkeys(row["category"] for row in rows):
        inside = [row for row in rows if row["category"] == section]
        folds = folds_of(inside)
        for classifier in (naive_bayes, logistic):
            for features, options in features_of(language).items():
                right = np.zeros(len(inside))
                for fold in range(FOLDS):
                    chosen = np.flatnonzero(folds == fold)
                    fitted = classifier(
                        *answers([r for r, f in zip(inside, folds, strict=True) if f != fold]), options
                    )
                    right[chosen] = is_right(fitted, [inside[place] for place in chosen])
                of_pool = is_right(classifier(*answers(pool), options), inside)
                for trained_on, found in (("pool", of_pool), ("section", right)):
                    of_template = pd.Series(found).groupby([row["template"] for row in inside]).mean()
                    yield (section, classifier.__name__, features, trained_on), 100 * of_template.mean()


def features_of(language):
    words = {"token_pattern": r"\w+", "ngram_range": (1, 1)}
    if language in UNSPACED:
        words = {"analyzer": "char", "ngram_range": (1, 2)}
    return {"words": words, "characters": {"analyzer": "char", "ngram_range": (2, 4)}}


def answers(rows):
    return [row["chosen"] for row in rows], [row["rejected"] for row in rows]


def naive_bayes(chosen, rejected, options):
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform([*chosen, *rejected])
    model = MultinomialNB().fit(counts, [1] * len(chosen) + [0] * len(rejected))
    return lambda texts: np.diff(model.predict_log_proba(vectorizer.transform(texts)))[:, 0]


def logistic(chosen, rejected, options):
    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    weights = vectorizer.fit_transform([*chosen, *rejected])
    difference = weights[: len(chosen)] - weights[len(chosen) :]
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, solver="liblinear", dual=True, random_state=0)
    model.fit(both, np.repeat([1, 0], len(chosen)))
    return lambda texts: model.decision_function(vectorizer.transform(texts))


def is_right(score, rows):
    chosen, rejected = (score(texts).round(9) for texts in answers(rows))
    return np.where(chosen == rejected, 0.5, chosen > rejected)


def folds_of(rows):
    """Return each row's fold; templates of each kind are assigned in turn.

    A refusal is right in one subset and wrong in another. A classifier that has seen more of one would be below chance on
    the other, so each fold leaves out equally many. Families, which have both, are kinds of their own."""
    chosen = {(row["template"], row["chosen"]) for row in rows}
    kinds = {}
    for name, row in {row["template"]: row for row in reversed(rows)}.items():
        kinds.setdefault((row["subset"], (name, row["rejected"]) in chosen), []).append(name)
    dealt = {name: place % FOLDS for names in kinds.values() for place, name in enumerate(sorted(names))}
    return np.array([dealt[row["template"]] for row in rows])
