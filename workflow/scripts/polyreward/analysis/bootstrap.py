"""Paired bootstrap over templates: all pairs of a template are right or wrong together, so templates are
resampled.

A plain bootstrap of n units has (n - 1) / n of their variance. Here n - 1 are drawn of n, each weighing n /
(n - 1), which has all of it; and intervals are widened from the normal's quantile to Student's. Shares of few
units, or of units that are nearly all alike, have other intervals (share_interval): resamples of eight right
answers have no width. Sources: Rao and Wu 1988, Resampling inference with complex survey data, JASA 83;
Agresti and Coull 1998, Am. Stat. 52; for differences Agresti and Min 2005, Stat. Med. 24."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import norm, permutation_test
from scipy.stats import t as student

from polyreward.core.seeds import job_seed

# Below so many units, or where fewer than so many of them differ from the others, resamples do not show what
# a share may be
FEW_UNITS, FEW_APART = 16, 3
FEW_DIFFERING = 12  # units, up to which a difference takes an exact test, too
ROUNDING = 1e-12  # of a variance: what is less is none


@dataclasses.dataclass(frozen=True)
class Interval:
    """How intervals are made.

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
    """Return section scores of every scorer under resampling (samples, scorers, sections): all see the same
    draw.

    Within a stratum, a section's score is the weighted mean over the pairs of all drawn templates. So the
    only template of a subset varies with the others of its stratum. The mean of each subset's own
    accuracy would be the same in every draw.

    Args:
        correct: (pairs, scorers), 0 to 1.
        templates: the cluster of each pair (the pair's own id where there is none).
        strata: within which clusters are drawn, each of whole subsets; by default the subsets, so that
            section weights stay as they are. A stratum none of whose pairs in a section is drawn counts with
            its own score.
    """
    subsets, templates = np.asarray(subsets), np.asarray(templates)
    strata = subsets if strata is None else np.asarray(strata)
    generator = np.random.default_rng(seed)
    of_pair = {subset: weights[subset] / count for subset, count in Counter(subsets.tolist()).items()}
    scores = np.zeros((samples, correct.shape[1], len(sections)))
    for stratum in sorted(set(strata)):
        inside = strata == stratum
        right, of_subset = correct[inside], subsets[inside]
        names, cluster = np.unique(templates[inside], return_inverse=True)
        draws = _counts(generator, len(names), samples)
        for place, members in enumerate(sections.values()):
            weight = np.where(np.isin(of_subset, members), [of_pair[subset] for subset in of_subset], 0.0)
            if not weight.any():
                continue
            sums = np.zeros((len(names), right.shape[1]))
            np.add.at(sums, cluster, weight[:, None] * right)
            drawn = (draws @ np.bincount(cluster, weight, minlength=len(names)))[:, None]
            own = weight @ right / weight.sum()
            share = weight.sum() / sum(weights[subset] for subset in members)
            scores[:, :, place] += share * np.where(
                drawn > ROUNDING, draws @ sums / np.maximum(drawn, ROUNDING), own
            )
    return scores


def degrees_of_freedom(strata: Iterable[str], clusters: Iterable[str]) -> int:
    """Return the number of clusters minus the strata in which they are drawn; 0 where a stratum has one
    cluster, and so no variance."""
    counts: dict[str, set[str]] = {}
    for stratum, cluster in zip(strata, clusters, strict=True):
        counts.setdefault(stratum, set()).add(cluster)
    sizes = [len(found) - 1 for found in counts.values()]
    return sum(sizes) if sizes and min(sizes) else 0


@dataclasses.dataclass(frozen=True)
class Between:
    """The variance that trainings of one model add to a mean over them.

    added: beyond what resamples show.
    found: what was found between them, of which `added` is a part; it decides how sure that part is.
    freedom: degrees of freedom of `found`."""

    added: float
    found: float
    freedom: int


def combined_freedom(variance: float, freedom: float, others: Sequence[Between]) -> float:
    """Return the degrees of freedom of a variance and what others add to it, never fewer than the fewest of
    all parts.

    Subtracting a part of a variance does not make it more certain, so the denominator has the variance before
    subtraction. Source: Satterthwaite 1946, Biometrics Bulletin 2, who has it for differences of mean
    squares, too."""
    whole = variance + sum(other.added for other in others)
    if freedom < 1 or whole <= 0:
        return freedom
    left = [other for other in others if other.added > 0]
    found = whole**2 / (variance**2 / freedom + sum(other.found**2 / other.freedom for other in left))
    return max(found, min([freedom, *(other.freedom for other in left)]))


def with_trainings(
    values: np.ndarray, freedom: float, between: Sequence[Between]
) -> tuple[np.ndarray, float]:
    """Return resamples widened about the estimate to the whole variance, trainings' included, and its degrees
    of freedom.

    values: (1 + samples,), first the data's own. freedom: of the resamples. between: of each model with
    several trainings."""
    variance, more = float(np.var(values[1:])), sum(of_model.added for of_model in between)
    if not more:
        widened = values
    elif variance > ROUNDING * more:
        widened = values[0] + np.sqrt(1 + more / variance) * (values - values[0])
    else:  # units that are all alike leave nothing to widen
        count = len(values) - 1
        widened = values[0] + np.sqrt(more) * np.array([0.0, *norm.ppf((np.arange(count) + 0.5) / count)])
    return widened, combined_freedom(variance, freedom, between)


def between_trainings(scores: np.ndarray) -> Between:
    """Return the variance that trainings of one model add to the mean of their scores.

    scores: (1 + samples, trainings), first the data's own. Resamples of templates hold what trainings differ
    by on single templates, so it is taken off. Source: Owen 2007, The pigeonhole bootstrap, Ann. Appl. Stat.
    1."""
    count = scores.shape[1]
    of_templates = np.var(scores[1:] - scores[1:].mean(axis=1, keepdims=True), axis=0).sum() / (count - 1)
    found = float(np.var(scores[0], ddof=1))
    return Between(max(found - of_templates, 0.0) / count, found / count, count - 1)


def student_interval(values: np.ndarray, confidence: float, freedom: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the central percentiles of resamples, widened about the estimate from the normal's quantile to
    Student's.

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


def share_interval(
    values: np.ndarray,
    confidence: float,
    freedom: float,
    units: float,
    lowest: float = 0.0,
    highest: float = 1.0,
) -> tuple[float, float]:
    """Return the interval of a share, a mean of shares or a difference of two, within what they can be.

    values: (1 + samples,), first the data's own. units: independent ones that it rests on. It is
    student_interval's where there are FEW_UNITS, and FEW_APART of them differ from the others. Else two
    made-up units join the others, and the interval is the normal's about the new mean. For a share they are
    one at each end (Agresti and Coull); for a difference, half a unit at each end and one between (Agresti
    and Min). The units' variance is multiplied by (units - 1) / degrees of freedom, at most by Student's
    widening, since a variance from strata of two or three is often zero. Without degrees of freedom the ends
    are no numbers."""
    point, variance = float(values[0]), float(np.var(values[1:]))
    if freedom < 1:
        return np.nan, np.nan
    if units >= FEW_UNITS and units**2 * variance >= FEW_APART:
        low, high = student_interval(values, confidence, freedom)
    else:
        tail, at_ends, more = (1 - confidence) / 2, 0.5 if lowest < 0 else 1.0, units + 2
        variance *= np.clip((units - 1) / freedom, 1, (student.isf(tail, freedom) / norm.isf(tail)) ** 2)
        mean = (units * point + lowest + highest) / more
        added = (
            at_ends * ((lowest - mean) ** 2 + (highest - mean) ** 2)
            + 2 * (1 - at_ends) * ((lowest + highest) / 2 - mean) ** 2
        )
        reach = norm.isf(tail) * np.sqrt(units * (variance * units + (point - mean) ** 2) + added) / more
        low, high = min(mean - reach, point), max(mean + reach, point)
    return float(np.clip(low, lowest, highest)), float(np.clip(high, lowest, highest))


def exact_p(differences: np.ndarray) -> float:
    """Return the two-sided p of an exact test that a sum of independent differences is zero.

    It takes all changes of their signs. 0 where more than FEW_DIFFERING are not zero: resamples tell."""
    differing = differences[np.abs(differences) > ROUNDING]
    if len(differing) > FEW_DIFFERING:
        return 0.0
    if len(differing) < 2:
        return 1.0
    test = permutation_test((differing,), np.sum, permutation_type="samples", n_resamples=np.inf)
    return float(test.pvalue)


def effective_units(weights: Sequence[float]) -> float:
    """Return how many units of the same weight a mean of these weights is worth. Source: Kish 1965, Survey
    Sampling."""
    weights = np.asarray(weights, dtype=float)
    return float(weights.sum() ** 2 / (weights**2).sum())


def resampled_means(values: np.ndarray, interval: Interval, *key: str) -> np.ndarray:
    """Return the means of resamples (samples, ...).

    values: (n, ...).
    key: of the seed, so that no two draws are alike."""
    drawn = _counts(_generator(interval, *key), len(values), interval.samples) / len(values)
    return np.tensordot(drawn, values, axes=1)


def bootstrap_weights(n: int, interval: Interval, *key: str) -> np.ndarray:
    """Return the weights of n items (1 + resamples, n): first all alike, then how often each is drawn, over
    n."""
    drawn = _counts(_generator(interval, "claims", *key), n, interval.samples)
    return np.concatenate([np.ones((1, n)), drawn]) / n


def _generator(interval: Interval, *key: str) -> np.random.Generator:
    return np.random.default_rng(job_seed(interval.seed, "bootstrap", *key))


def _counts(generator: np.random.Generator, n: int, samples: int) -> np.ndarray:
    """Return the weight of each of n items in each resample (samples, n), n together; a single item has no
    variance to show."""
    if n == 1:
        return np.ones((samples, 1))
    return generator.multinomial(n - 1, np.full(n, 1 / n), size=samples) * (n / (n - 1))
