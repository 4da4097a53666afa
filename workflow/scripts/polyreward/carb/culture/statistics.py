"""What four prompts' scores of the same four answers say: does a scorer know which answer is right where?

`tables` are (quartets, 4, 4): the score of each answer (last axis) to the prompt about each place; the right
one is on the diagonal. Statistics are fractions, one for each quartet."""

from itertools import combinations

import numpy as np

from polyreward.carb.culture.quartets import FOUR

# Equal scores differ by rounding, where they are sums; relative to the largest score of the quartet
SAME = 1e-9
CHANCE = {"swaps": 50.0, "centred": 25.0, "best_of_four": 25.0}  # per cent, without knowing any place


def swaps(tables: np.ndarray) -> np.ndarray:
    """Return the share of the six pairs of places whose two right answers score more than when swapped.

    A tie is half right. A scorer that adds up how good an answer and how good a prompt is has one half."""
    pairs = list(combinations(range(FOUR), 2))
    gains = np.stack(
        [
            tables[:, one, one] + tables[:, other, other] - tables[:, one, other] - tables[:, other, one]
            for one, other in pairs
        ],
        axis=1,
    )
    tied = np.abs(gains) <= _tolerance(tables)[:, 0]
    return np.where(tied, 0.5, gains > 0).mean(axis=1)


def best_of_four(tables: np.ndarray) -> np.ndarray:
    """Return the share of places whose right answer scores highest; a tie at the top is shared out."""
    return _best(tables, _tolerance(tables))


def centred(tables: np.ndarray) -> np.ndarray:
    """Return best of four of the scores minus each answer's mean over the four prompts."""
    return _best(tables - tables.mean(axis=1, keepdims=True), _tolerance(tables))


def _best(tables: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    at_top = tables >= tables.max(axis=2, keepdims=True) - tolerance
    right = np.diagonal(at_top, axis1=1, axis2=2)
    return (right / at_top.sum(axis=2)).mean(axis=1)


def place_share(tables: np.ndarray) -> np.ndarray:
    """Return the share of the variance of a prompt's four scores that depends on its place; 0 without any."""
    within = tables - tables.mean(axis=2, keepdims=True)
    of_place = within - within.mean(axis=1, keepdims=True)
    whole, part = ((values**2).sum(axis=(1, 2)) for values in (within, of_place))
    varies = whole > _tolerance(tables)[:, 0, 0] ** 2
    return np.divide(part, whole, out=np.zeros_like(whole), where=varies)


def _tolerance(tables: np.ndarray) -> np.ndarray:
    return SAME * np.abs(tables).max(axis=(1, 2), keepdims=True)


STATISTICS = {function.__name__: function for function in (swaps, centred, best_of_four, place_share)}
