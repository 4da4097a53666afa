"""Do answers give pairs away? The accuracy of classifiers that see no prompt."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

FOLDS = 5
UNSPACED = ("ja", "th", "zh")  # without spaces between words, which are one or two characters


def accuracies(pool, rows, language) -> Iterator[tuple[tuple, float]]:
    """Yield ((section, classifier, features, trained on), %); a template counts once, a tie half."""
    frame = pd.DataFrame(rows)
    for features, options in features_of(language).items():
        every = [*pool, *rows]
        counts = CountVectorizer(**options).fit_transform(
            [row[role] for role in ("chosen", "rejected") for row in every]
        )
        chosen, rejected = counts[: len(every)], counts[len(every) :]
        train, test = np.arange(len(pool)), np.arange(len(pool), len(every))
        for classifier in (naive_bayes, logistic):

            def is_right(trained, places, classifier=classifier, chosen=chosen, rejected=rejected):
                score = fitted(classifier, chosen[trained], rejected[trained])
                first, second = (score(side[places]).round(9) for side in (chosen, rejected))
                return np.where(first == second, 0.5, first > second)

            of_pool = is_right(train, test)
            for section, inside in frame.groupby("category", sort=False):
                folds, places = folds_of(inside.to_dict("records")), test[inside.index]
                of_section = np.zeros(len(inside))
                for fold in range(FOLDS):
                    of_section[folds == fold] = is_right(places[folds != fold], places[folds == fold])
                for trained_on, found in (("pool", of_pool[inside.index]), ("section", of_section)):
                    of_template = pd.Series(found).groupby(inside["template"].to_numpy()).mean()
                    yield (section, classifier.__name__, features, trained_on), 100 * of_template.mean()


def features_of(language):
    words = {"token_pattern": r"\w+", "ngram_range": (1, 1)}
    if language in UNSPACED:
        words = {"analyzer": "char", "ngram_range": (1, 2)}
    return {"words": words, "characters": {"analyzer": "char", "ngram_range": (2, 4)}}


def fitted(classifier, chosen, rejected):
    """Return a classifier's score of counts, fitted on the features that its own texts have."""
    counts = scipy.sparse.vstack([chosen, rejected])
    seen = np.flatnonzero(counts.getnnz(axis=0))
    score = classifier(counts[:, seen], chosen.shape[0])
    return lambda texts: score(texts[:, seen])


def naive_bayes(counts, size):
    model = MultinomialNB().fit(counts, np.repeat([1, 0], size))
    return lambda texts: np.diff(model.predict_log_proba(texts))[:, 0]


def logistic(counts, size):
    transformer = TfidfTransformer(sublinear_tf=True)
    weights = transformer.fit_transform(counts)
    difference = weights[:size] - weights[size:]
    both = scipy.sparse.vstack([difference, -difference])
    model = LogisticRegression(C=10.0, fit_intercept=False, solver="liblinear", dual=True, random_state=0)
    model.fit(both, np.repeat([1, 0], size))
    return lambda texts: model.decision_function(transformer.transform(texts))


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
