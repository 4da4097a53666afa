"""Topics that are held out from the benchmark, so that a judge can be trained on facts of which no item
asks."""

import math
from collections.abc import Sequence

from polyreward.core.seeds import job_seed


def held_out_topics(domains: dict[str, str], share: float, seed: int) -> set[str]:
    """Return the topics to train on, none of whose items may be in the benchmark.

    domains: {topic: its domain}. Of each domain that share of its topics, rounded up, drawn by hash; a domain
    keeps one for the benchmark."""
    drawn = set()
    for domain in sorted(set(domains.values())):
        of_domain = [topic for topic, its in domains.items() if its == domain]
        of_domain.sort(key=lambda topic: job_seed(seed, "carb", "held out", topic))
        drawn |= set(of_domain[: min(math.ceil(share * len(of_domain)), len(of_domain) - 1)])
    return drawn


def family(row: dict) -> str:
    """Return what is held out as one: the family of a row's questions, or else its topic."""
    return row.get("family", row["topic"])


def parted(
    references: Sequence[dict], items: Sequence[dict], share: float, seed: int, training: bool
) -> tuple[list[dict], list[dict]]:
    """Return the references and the possible items of the topics that are held out to train on, or of all
    others."""
    held_out = held_out_topics({family(row): row["domain"] for row in references}, share, seed)
    return tuple(
        [row for row in rows if (family(row) in held_out) == training] for rows in (references, items)
    )
