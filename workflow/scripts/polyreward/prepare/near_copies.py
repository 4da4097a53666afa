"""Texts of two sets that say nearly the same, by their characters and by their words."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

# Cosine of TF-IDF weights from which two texts are near-copies: of character 4-grams, and of words without
# function words.
LIMITS = {"characters": 0.45, "words": 0.45}
FRAME = [
    "function",
    "functions",
    "python",
    "javascript",
    "java",
    "rust",
    "write",
    "returns",
    "list",
]  # in every request for code
VECTORIZERS = {
    "characters": {"analyzer": "char_wb", "ngram_range": (4, 4)},
    "words": {"stop_words": [*ENGLISH_STOP_WORDS, *FRAME], "token_pattern": r"[a-z]{3,}"},
}
COLUMNS = ["first", "second", *LIMITS]


def overlaps(sets: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return the overlap of every two texts of different sets, the greatest first (COLUMNS).

    sets: {set: {id: English text}}. An overlap is a cosine of TF-IDF weights, 0 to 1."""
    texts = [text for of_set in sets.values() for text in of_set.values()]
    ends = np.cumsum([0, *map(len, sets.values())])
    names = {name: list(of_set) for name, of_set in sets.items()}
    tables = []
    weights = {
        kind: TfidfVectorizer(sublinear_tf=True, **options).fit_transform(texts)
        for kind, options in VECTORIZERS.items()
    }
    for one, two in combinations(range(len(sets)), 2):
        pair = [list(names)[place] for place in (one, two)]
        found = {
            kind: (w[ends[one] : ends[one + 1]] @ w[ends[two] : ends[two + 1]].T).toarray()
            for kind, w in weights.items()
        }
        index = pd.MultiIndex.from_product([names[name] for name in pair], names=["first", "second"])
        tables.append(
            pd.DataFrame({kind: values.ravel() for kind, values in found.items()}, index).reset_index()
        )
    table = pd.concat(tables)
    return table.iloc[np.argsort(-table[list(LIMITS)].max(axis=1), kind="stable")].reset_index(drop=True)[
        COLUMNS
    ]


def near_copies(sets: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return the rows of `overlaps` of which a cosine reaches its limit."""
    table = overlaps(sets)
    return table[(table["characters"] >= LIMITS["characters"]) | (table["words"] >= LIMITS["words"])]
