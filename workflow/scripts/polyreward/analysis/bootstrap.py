"""Paired bootstrap over templates: all pairs of a template are right or wrong together, so templates are resampled."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from polyreward.core.seeds import job_seed


@dataclasses.dataclass(frozen=True)
class Interval:
    """How intervals are made. samples: bootstrap resamples; confidence: a fraction; seed: the root seed."""

    samples: int
    confidence: float
    seed: int


def resampled_sections(
    correct: np.ndarray,
    subsets: Sequence[str],
    templates: Sequence[str],
    weights: dict[str, float],
    sections: dict[str, Sequence[str]],
    samples: int,
    seed: int,
) -> np.ndarray:
    """Section scores of every scorer under resampling, paired: all scorers see the same draw.

    correct: (pairs, scorers), 0 to 1. templates: the cluster of each pair (the pair's own id where there is none), drawn
    with replacement within its subset, so that section weights stay as they are. Returns (samples, scorers, sections)."""
    subsets, templates = np.asarray(subsets), np.asarray(templates)
    generator = np.random.default_rng(seed)
    accuracy = {}
    for subset in sorted(set(subsets)):
        inside = subsets == subset
        names, cluster = np.unique(templates[inside], return_inverse=True)
        right = np.zeros((len(names), correct.shape[1]))
        np.add.at(right, cluster, correct[inside])
        pairs = np.bincount(cluster)
        draws = _counts(generator, len(names), samples)
        accuracy[subset] = (draws @ right) / (draws @ pairs)[:, None]
    columns = []
    for members in sections.values():
        total = sum(weights[s] for s in members)
        columns.append(sum(accuracy[s] * (weights[s] / total) for s in members))
    return np.stack(columns, axis=-1)


def percentile_interval(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """Return the central percentile interval of resampled values."""
    tail = 50 * (1 - confidence)
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def resampled_means(values: np.ndarray, interval: Interval, *key: str) -> np.ndarray:
    """Return the means of resamples (samples, ...). values: (n, ...). key: of the seed, so that no two draws are alike."""
    drawn = _generator(interval, *key).integers(len(values), size=(interval.samples, len(values)))
    return values[drawn].mean(axis=1)


def bootstrap_weights(n: int, interval: Interval, *key: str) -> np.ndarray:
    """Return the weights of n items (1 + resamples, n): first all alike, then how often each is drawn, over n."""
    drawn = _counts(_generator(interval, "claims", *key), n, interval.samples)
    return np.concatenate([np.ones((1, n)), drawn]) / n


def _generator(interval: Interval, *key: str) -> np.random.Generator:
    return np.random.default_rng(job_seed(interval.seed, "bootstrap", *key))


def _counts(generator: np.random.Generator, n: int, samples: int) -> np.ndarray:
    """Return how often each of n items is drawn in each resample (samples, n)."""
    return generator.multinomial(n, np.full(n, 1 / n), size=samples)
