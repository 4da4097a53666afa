"""Paired bootstrap over templates: all pairs of a template are right or wrong together, so templates are resampled.

A plain bootstrap of n units has (n - 1) / n of their variance. Here n - 1 are drawn of n, each weighing n / (n - 1), which has
all of it; and intervals are widened from the normal's quantile to Student's.
Source: Rao and Wu 1988, Resampling inference with complex survey data, JASA 83."""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from polyreward.core.seeds import job_seed


@dataclasses.dataclass(frozen=True)
class Interval:
    """How intervals are made.

    samples: bootstrap resamples.
    confidence: a fraction.
    seed: the root seed."""

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
    strata: Sequence[str] | None = None,
) -> np.ndarray:
    """Section scores of every scorer under resampling, paired: all scorers see the same draw.

    correct: (pairs, scorers), 0 to 1.
    templates: the cluster of each pair (the pair's own id where there is none).
    strata: within which clusters are drawn, each of whole subsets; the subsets themselves where none are given, so that
        section weights stay as they are. A subset none of whose clusters is drawn counts with its own score.
    Returns (samples, scorers, sections)."""
    subsets, templates = np.asarray(subsets), np.asarray(templates)
    strata = subsets if strata is None else np.asarray(strata)
    generator = np.random.default_rng(seed)
    accuracy = {}
    for stratum in sorted(set(strata)):
        names = np.unique(templates[strata == stratum])
        draws = _counts(generator, len(names), samples)
        for subset in sorted(set(subsets[strata == stratum])):
            inside = subsets == subset
            cluster = np.searchsorted(names, templates[inside])
            right = np.zeros((len(names), correct.shape[1]))
            np.add.at(right, cluster, correct[inside])
            pairs = (draws @ np.bincount(cluster, minlength=len(names)))[:, None]
            accuracy[subset] = np.where(pairs > 0, draws @ right / np.maximum(pairs, 1e-9), correct[inside].mean(axis=0))
    columns = []
    for members in sections.values():
        total = sum(weights[s] for s in members)
        columns.append(sum(accuracy[s] * (weights[s] / total) for s in members))
    return np.stack(columns, axis=-1)


def degrees_of_freedom(strata: Iterable[str], clusters: Iterable[str]) -> int:
    """Return the clusters less the strata in which they are drawn; 0 where a stratum has one cluster, and so no variance."""
    counts: dict[str, set[str]] = {}
    for stratum, cluster in zip(strata, clusters, strict=True):
        counts.setdefault(stratum, set()).add(cluster)
    sizes = [len(found) - 1 for found in counts.values()]
    return sum(sizes) if sizes and min(sizes) else 0


def student_interval(values: np.ndarray, confidence: float, freedom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the central percentiles of resamples, widened about the estimate from the normal's quantile to Student's.

    values: (1 + samples, ...), first the data's own.
    freedom: degrees of freedom.
    Without any, the ends are no numbers."""
    point, draws = values[0], values[1:]
    if freedom < 1:
        return point + np.nan, point + np.nan
    tail = (1 - confidence) / 2
    stretch = student.isf(tail, freedom) / norm.isf(tail)
    low, high = np.percentile(draws, [100 * tail, 100 * (1 - tail)], axis=0)
    return point + stretch * (low - point), point + stretch * (high - point)


def resampled_means(values: np.ndarray, interval: Interval, *key: str) -> np.ndarray:
    """Return the means of resamples (samples, ...).

    values: (n, ...).
    key: of the seed, so that no two draws are alike."""
    drawn = _counts(_generator(interval, *key), len(values), interval.samples) / len(values)
    return np.tensordot(drawn, values, axes=1)


def bootstrap_weights(n: int, interval: Interval, *key: str) -> np.ndarray:
    """Return the weights of n items (1 + resamples, n): first all alike, then how often each is drawn, over n."""
    drawn = _counts(_generator(interval, "claims", *key), n, interval.samples)
    return np.concatenate([np.ones((1, n)), drawn]) / n


def _generator(interval: Interval, *key: str) -> np.random.Generator:
    return np.random.default_rng(job_seed(interval.seed, "bootstrap", *key))


def _counts(generator: np.random.Generator, n: int, samples: int) -> np.ndarray:
    """Return the weight of each of n items in each resample (samples, n), n together; a single item has no variance to show."""
    if n == 1:
        return np.ones((samples, 1))
    return generator.multinomial(n - 1, np.full(n, 1 / n), size=samples) * (n / (n - 1))
