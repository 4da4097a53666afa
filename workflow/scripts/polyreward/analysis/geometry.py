"""How a model lays out what it reads: the spectrum of a passage in several languages, and likeness to the
base.

Source: arXiv 2410.18027, Figure 1; linear CKA of arXiv 1905.00414, its estimate without bias of 2010.15327.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from polyreward.analysis.bootstrap import Interval, resampled_means, student_interval

FEWEST_PASSAGES = 4  # that the estimate of CKA without bias wants
NEARLY_ONE = 1 - 1e-12  # what equal states count as on Fisher's scale, where 1 is infinitely far
COLUMNS = ["base_model", "rm_training", "quantity", "key", "value", "low", "high", "n_passages"]


def spectra(states: np.ndarray) -> np.ndarray:
    """Return each passage's singular values as shares of their sum (passages, languages), the largest first.

    states: (languages, passages, d_model). A share of 1 means that all languages end in one direction."""
    values = np.linalg.svd(states.transpose(1, 0, 2), compute_uv=False)
    return values / values.sum(axis=1, keepdims=True)


def linear_cka(one: np.ndarray, other: np.ndarray) -> float:
    """Return linear CKA of two sets of states (passages, features) of the same passages, estimated without
    bias.

    1 for equal up to rotation and scale, about 0 for unrelated, never outside [-1, 1] (Szekely and Rizzo
    2014). The plain estimate is near 1 where passages are fewer than features. NaN where states hardly vary.
    """
    # A shift leaves the estimate as it is, but inner products of states far from zero differ by less than
    # they are rounded to
    centred = [states - states.mean(axis=0) for states in (one.astype("float64"), other.astype("float64"))]
    grams = [states @ states.T for states in centred]
    pairs = ((grams[0], grams[1]), (grams[0], grams[0]), (grams[1], grams[1]))
    cross, first, second = (_hsic(*pair) for pair in pairs)
    scale = first * second
    return float(cross / np.sqrt(scale)) if scale > 0 else float("nan")


def _hsic(first: np.ndarray, second: np.ndarray) -> float:
    n = len(first)
    a, b = (gram - np.diag(np.diag(gram)) for gram in (first, second))
    return (
        np.sum(a * b)
        + a.sum() * b.sum() / ((n - 1) * (n - 2))
        - 2 * np.sum(a.sum(axis=0) * b.sum(axis=0)) / (n - 2)
    ) / (n * (n - 3))


def geometry_table(
    states: dict[str, np.ndarray], base: str, languages: Sequence[str], interval: Interval
) -> pd.DataFrame:
    """Return Figure 1's rows of one base; states: {"base" or training language: (languages, passages,
    d_model)}.

    quantity: "share" (of the largest singular value, mean over passages), "spectrum" (each one's share; key:
    its rank) or "cka" (with the base; key: language). Intervals: bootstrap over passages; for CKA, which a
    passage drawn twice would raise, the jackknife's on Fisher's scale."""
    passages = states["base"].shape[1]
    records = []
    for training, of_model in states.items():
        shares = spectra(of_model)
        mean = shares.mean(axis=0)
        # The same passages for every model
        drawn = np.vstack([mean, resampled_means(shares, interval, "figure1", base)])
        ends = np.clip(student_interval(drawn, interval.confidence, passages - 1), 0, 1)
        for rank, found in enumerate(zip(mean, *ends, strict=True)):
            records.append((training, "spectrum", str(rank + 1), *found))
            if rank == 0:
                records.append((training, "share", "", *found))
        if training != "base":
            for language, one, other in zip(languages, of_model, states["base"], strict=True):
                records.append(
                    (training, "cka", language, *_cka_with_interval(one, other, interval.confidence))
                )
    table = pd.DataFrame(records, columns=COLUMNS[1:7])
    return table.assign(base_model=base, n_passages=passages)[COLUMNS]


def _cka_with_interval(one: np.ndarray, other: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Return CKA and the ends of its interval: the jackknife's of its inverse hyperbolic tangent."""
    value, n = linear_cka(one, other), len(one)
    without = (
        [linear_cka(np.delete(one, i, axis=0), np.delete(other, i, axis=0)) for i in range(n)]
        if n > FEWEST_PASSAGES
        else []
    )
    middle, *around = np.arctanh(np.clip([value, *without], -NEARLY_ONE, NEARLY_ONE))
    error = np.sqrt((n - 1) / n * np.sum((around - np.mean(around)) ** 2)) if around else np.nan
    half = student.isf((1 - confidence) / 2, n - 1) * error
    return value, float(np.tanh(middle - half)), float(np.tanh(middle + half))
