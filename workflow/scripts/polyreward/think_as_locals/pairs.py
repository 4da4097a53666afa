"""Pairs of a right and a wrong answer to train a judge on, from items that are held out from the benchmark."""

from collections.abc import Mapping, Sequence

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed
from polyreward.scoring.criteria_layout import LABELS, question

OWN = "own"  # the source of pairs of the benchmark's held-out topics


def training_pairs(items: Sequence[dict]) -> list[dict]:
    """Return the pairs of best-of-four items: the chosen answer against each rejected one.

    A pair has id, prompt, chosen, rejected, culture, language, topic, domain and elsewhere: the culture of its rejected answer,
    its own where another question of the culture has lent it.
    A culture is named after its language."""
    return [
        {
            "id": f"{item['id']}_{reference.get('topic', reference['culture'])}",
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


def dataset_pairs(rows: Sequence[dict]) -> list[dict]:
    """Return the pairs of a dataset's preference rows (id, prompt, chosen, rejected: one answer or several)."""
    return [
        {**row, "id": f"{row['id']}_{number}", "rejected": answer}
        for row in rows
        for number, answer in enumerate([row["rejected"]] if isinstance(row["rejected"], str) else row["rejected"])
    ]


def dealt(pairs: Sequence[dict], sizes: dict[str, int], seed: int, where: str = "think_as_locals") -> dict[str, list[dict]]:
    """Deal pairs out to uses {use: how many} in the order of their hashes, no pair twice; and what is left as `rest`.

    Raises PolyrewardError where there are too few for all of them; where: which settings are to blame."""
    order = sorted(pairs, key=lambda pair: job_seed(seed, "locals", "pair", pair["id"]))
    if len(order) < sum(sizes.values()):
        asked = ", ".join(f"{use} {size}" for use, size in sizes.items())
        raise PolyrewardError(
            f"{where}: {len(order)} pairs to train on, but {asked} are asked for; lower them, or raise carb.training_share, or "
            "name more data"
        )
    hands = {}
    for use, size in sizes.items():
        hands[use], order = order[:size], order[size:]
    return {**hands, "rest": order}


def _claimed(pairs: Sequence[dict], count: int, shares: Mapping[str, float], seed: int) -> tuple[list[dict], list[dict]]:
    """Return (the pairs that each source's share of `count` claims, by the order of their hashes; all others)."""
    claimed = []
    for source, share in shares.items():
        of_source = [pair for pair in pairs if _source(pair) == source]
        wanted = min(round(share * count), count - len(claimed))
        if len(of_source) < wanted:
            announce(f"think_as_locals: {source} has {len(of_source)} pairs of the {wanted} that its share claims")
        claimed += dealt(of_source, {"claimed": min(wanted, len(of_source))}, seed)["claimed"]
    taken = {pair["id"] for pair in claimed}
    return claimed, [pair for pair in pairs if pair["id"] not in taken]


def _source(pair: dict) -> str:
    return OWN if "culture" in pair else pair["source"].split("/")[0]  # of templates, each file is a source of its own


def hands(
    own: Sequence[dict],
    others: Sequence[dict],
    easy: Sequence[dict],
    warmup: int,
    grpo: int,
    held_out: int,
    samples: int,
    seed: int,
    shares: Mapping[str, float] | None = None,
    easy_share: float = 0.0,
) -> dict[str, list[dict]]:
    """Deal pairs out: {"warmup", "grpo", "held_out", "samples"}, no pair twice.

    own: pairs of items; others: of datasets, for GRPO beside the rest of them; easy: pairs that are easy to tell apart, which
    make easy_share of the warm-up and of GRPO, and come first in GRPO. shares: {source, OWN for items: share of the rest of
    GRPO's pairs}; what a source lacks is filled from all. held_out: pairs of items, of the topics that are trained on, to see
    what is learnt. samples: so many of each culture, to show what judges reply."""
    many = {use: round(easy_share * size) for use, size in (("warmup", warmup), ("grpo", grpo))}
    simple = dealt(easy, many, seed, "think_as_locals.easy")
    first = dealt(own, {"held_out": held_out, "warmup": warmup - many["warmup"]}, seed)
    hard = grpo - many["grpo"]
    claimed, unclaimed = _claimed([*first["rest"], *others], hard, shares or {}, seed)
    second = dealt(unclaimed, {"grpo": hard - len(claimed)}, seed)
    mixed = dealt([*claimed, *second["grpo"]], {"grpo": hard}, seed)
    left = [pair for pair in second["rest"] if "culture" in pair]
    shown = [[pair for pair in left if pair["culture"] == culture][:samples] for culture in sorted({p["culture"] for p in left})]
    return {
        "warmup": [*simple["warmup"], *first["warmup"]],
        "grpo": [*simple["grpo"], *mixed["grpo"]],
        "held_out": first["held_out"],
        "samples": [pair for of_culture in shown for pair in of_culture],
    }


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


def one_order_each(pairs: Sequence[dict]) -> list[dict]:
    """Return one question for each pair, the right answer first and second in turn."""
    return [both_orders([pair])[number % len(LABELS)] for number, pair in enumerate(pairs)]
