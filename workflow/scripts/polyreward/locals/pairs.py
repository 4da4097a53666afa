"""Pairs of a right and a wrong answer to train a judge on, from items that are held out from the benchmark."""

import math
from collections.abc import Sequence

from polyreward.errors import PolyrewardError
from polyreward.locals.layout import LABELS, question
from polyreward.seeds import job_seed


def held_out_topics(domains: dict[str, str], share: float, seed: int) -> set[str]:
    """Return the topics to train on, none of whose items may be in the benchmark.

    domains: {topic: its domain}. Of each domain that share of its topics, drawn by hash and rounded up, so that what a topic is
    does not depend on the others' order; none where share is 0. A domain keeps one topic at least for the benchmark."""
    drawn = set()
    for domain in sorted(set(domains.values())):
        of_domain = sorted(topic for topic, its in domains.items() if its == domain)
        of_domain.sort(key=lambda topic: job_seed(seed, "locals", "topic", topic))
        drawn |= set(of_domain[: min(math.ceil(share * len(of_domain)), len(of_domain) - 1)])
    return drawn


def training_pairs(items: Sequence[dict]) -> list[dict]:
    """Return the pairs of best-of-four items: the chosen answer against each rejected one.

    A pair has id, prompt, chosen, rejected, culture, language, topic, domain and elsewhere: the culture of its rejected answer.
    A culture is named after its language."""
    return [
        {
            "id": f"{item['id']}_{reference['culture']}",
            "prompt": item["prompt"],
            "chosen": item["answers"][item["chosen"]],
            "rejected": answer,
            "culture": item["culture"],
            "language": item["culture"],
            "topic": item["topic"],
            "domain": item["domain"],
            "elsewhere": reference["culture"],
        }
        for item in items
        for number, (answer, reference) in enumerate(zip(item["answers"], item["references"], strict=True))
        if number != item["chosen"]
    ]


def dealt(pairs: Sequence[dict], sizes: dict[str, int], seed: int) -> dict[str, list[dict]]:
    """Deal pairs out to uses {use: how many}, no pair twice, in the order of their hashes.

    Raises PolyrewardError where there are too few for all of them."""
    order = sorted(pairs, key=lambda pair: job_seed(seed, "locals", "pair", pair["id"]))
    if len(order) < sum(sizes.values()):
        asked = ", ".join(f"{use} {size}" for use, size in sizes.items())
        raise PolyrewardError(
            f"locals: {len(order)} pairs to train on, but {asked} are asked for; lower them, or raise carb.training_share"
        )
    starts = {use: sum(list(sizes.values())[:number]) for number, use in enumerate(sizes)}
    return {use: order[start : start + sizes[use]] for use, start in starts.items()}


def both_orders(pairs: Sequence[dict]) -> list[dict]:
    """Return each pair as two questions beside one another, the right answer first and then second.

    Returns id, request, right (the label of the right answer) and the pair itself."""
    return [
        {"id": f"{pair['id']}_{right}", "request": question(pair["prompt"], first, second), "right": right, "pair": pair}
        for pair in pairs
        for right, first, second in zip(
            LABELS, (pair["chosen"], pair["rejected"]), (pair["rejected"], pair["chosen"]), strict=True
        )
    ]
