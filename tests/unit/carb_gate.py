"""The gate of our items: what reads no question must be at chance, in each domain and in each language."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from statsmodels.stats.proportion import proportion_confint
from support import script

from polyreward.core.seeds import job_seed
from polyreward.scoring.interface import Conversations
from polyreward.sheet.scorers import CARB_TEXT

text_scorers = script("score/carb_text_scores").text_scorers

CHANCE = 0.25
FOLDS = 10
GRAMS = {"words": ("word", (1, 1)), "characters": ("char", (2, 4))}  # what the classifiers count

Scores = dict[str, list[np.ndarray]]  # {scorer: the scores of each item's answers}


def surface_scores(items: Sequence[dict]) -> Scores:
    """Return the scores of length and script."""
    conversations = [Conversations(item["prompt"], tuple(item["answers"])) for item in items]
    scorers = {name: scorer for name, scorer in text_scorers().items() if name in CARB_TEXT}
    return {name: scorer.score(conversations, name).values for name, scorer in scorers.items()}


def classifier_scores(items: Sequence[dict], seed: int) -> Scores:
    """Return the scores of naive Bayes that sees only answers, by their words and by their characters.

    Each culture's items of a domain are one training set. It is cross-validated by groups of items that
    lend each other their answers or share a topic, so that what is scored was neither right nor wrong in
    training."""
    found: Scores = {name: [np.empty(0)] * len(items) for name in GRAMS}
    cells = defaultdict(list)
    for place, item in enumerate(items):
        cells[item["culture"], item["domain"]].append(place)
    for places in cells.values():
        own = [items[place] for place in places]
        for name, scores in found.items():
            for place, values in zip(places, _naive_bayes(own, _folds(own, seed), *GRAMS[name]), strict=True):
                scores[place] = values
    return found


def accuracies(items: Sequence[dict], scores: Mapping[str, Sequence[np.ndarray]]) -> dict[tuple, tuple]:
    """Return {(scorer, by, name): (accuracy, low, high) as shares} over all, by domain and by culture.

    Ties at the top are shared out; intervals are Wilson's, of 95%."""
    found = {}
    for scorer, of_items in scores.items():
        at_top = [np.isclose(values, values.max(), rtol=0, atol=1e-9) for values in of_items]
        right = np.array([top[item["chosen"]] / top.sum() for item, top in zip(items, at_top, strict=True)])
        for by in ("all", "domain", "culture"):
            names = np.array([item.get(by, "all") for item in items])
            for name in dict.fromkeys(names):
                own = right[names == name]
                ends = proportion_confint(own.sum(), len(own), alpha=0.05, method="wilson")
                found[scorer, by, name] = (own.mean(), *ends)
    return found


def off_chance(items: Sequence[dict], scores: Mapping[str, Sequence[np.ndarray]]) -> list[tuple]:
    """Return where a scorer is above chance by its interval; what is below gives nothing away."""
    return [(*key, found) for key, found in accuracies(items, scores).items() if found[1] > CHANCE]


def _naive_bayes(
    items: Sequence[dict], folds: Sequence[int], analyzer: str, grams: tuple[int, int]
) -> np.ndarray:
    """Return the cross-validated scores of items' answers (items, answers)."""
    texts = [answer for item in items for answer in item["answers"]]
    labels = np.array([number == item["chosen"] for item in items for number in range(len(item["answers"]))])
    counter = CountVectorizer(analyzer=analyzer, ngram_range=grams, token_pattern=r"(?u)\w+", binary=True)
    counts, fold_of = counter.fit_transform(texts), np.repeat(folds, len(texts) // len(items))
    scores = np.empty(len(texts))
    for fold in set(folds):
        inside = fold_of == fold
        seen = np.flatnonzero(counts[~inside].getnnz(axis=0))  # in training
        model = MultinomialNB(fit_prior=False).fit(counts[~inside][:, seen], labels[~inside])
        log = model.predict_log_proba(counts[inside][:, seen])
        scores[inside] = log[:, 1] - log[:, 0]
    return scores.reshape(len(items), -1)


def _folds(items: Sequence[dict], seed: int) -> list[int]:
    """Return a fold for each item, the same for items whose answers are of the same topics."""
    groups = [
        min([item["topic"], *(ref["topic"] for ref in item["references"] if "topic" in ref)])
        for item in items
    ]
    sizes, sized = Counter(), Counter(groups)
    fold_of = {}
    for group in sorted(sized, key=lambda group: job_seed(seed, "carb", "gate", group)):
        fold_of[group] = min(range(FOLDS), key=lambda fold: (sizes[fold], fold))
        sizes[fold_of[group]] += sized[group]
    return [fold_of[group] for group in groups]
