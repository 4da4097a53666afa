"""Chances of being right: what is hard for one scorer is hard for others, and in the whole cluster."""

import numpy as np
from scipy.stats import beta, norm

TEMPLATE_ICC = 0.5  # how alike the pairs of a template are
SEED_SPREAD = 0.03  # of a model's score between trainings (standard deviation)


def chances(
    generator: np.random.Generator, means: np.ndarray, icc: float, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Draw chances of being right around such means (rows, scorers).

    What is hard for one scorer is hard for others.

    Args:
        icc: correlation of answers within a cluster.
        clusters: of each row, which is equally hard for all its rows; None where each row is one.
    """
    clusters = np.arange(len(means)) if clusters is None else clusters
    size = clusters.max() + 1
    normal = generator.normal(size=(size, 1)) + generator.normal(size=(size, means.shape[1]))
    spread = 1 / icc - 1
    return beta.ppf(norm.cdf(normal[clusters] / np.sqrt(2)), means * spread, (1 - means) * spread)
