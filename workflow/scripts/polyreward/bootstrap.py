"""Paired bootstrap over templates: all pairs of a template are right or wrong together, so templates are resampled."""

from collections.abc import Sequence

import numpy as np


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
        draws = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=samples)
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
