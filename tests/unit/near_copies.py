"""Texts of two sets that say nearly the same, by their characters and by their words."""

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

LIMIT = 0.45  # the cosine of TF-IDF weights from which two texts are near-copies
# Every request for code has these.
FRAME = ["function", "functions", "python", "javascript", "java", "rust", "write", "returns", "list"]
VECTORIZERS = {
    "characters": {"analyzer": "char_wb", "ngram_range": (4, 4)},
    "words": {"stop_words": [*ENGLISH_STOP_WORDS, *FRAME], "token_pattern": r"[a-z]{3,}"},
}


def near_copies(sets):
    """Return the texts of different sets whose overlap reaches LIMIT; sets: {set: {id: English text}}."""
    names = [(name, key) for name, texts in sets.items() for key in texts]
    owners = np.array([name for name, _ in names])
    texts = [sets[name][key] for name, key in names]
    found = []
    for options in VECTORIZERS.values():
        weights = TfidfVectorizer(sublinear_tf=True, **options).fit_transform(texts)
        for one, two in combinations(sets, 2):
            first, second = np.flatnonzero(owners == one), np.flatnonzero(owners == two)
            cosines = (weights[first] @ weights[second].T).toarray()
            found += [(names[first[i]], names[second[j]], cosines[i, j])
                      for i, j in np.argwhere(cosines >= LIMIT)]  # fmt: skip
    return pd.DataFrame(found, columns=["first", "second", "cosine"])
