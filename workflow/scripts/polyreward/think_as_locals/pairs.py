"""Pairs of a right and a wrong answer to train a judge on, from items that are held out from the
benchmark."""

from collections.abc import Collection, Mapping, Sequence

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed
from polyreward.scoring.criteria_layout import LABELS, question

OWN = "own"  # the source of pairs of the benchmark's held-out topics


def training_pairs(items: Sequence[dict]) -> list[dict]:
    """Return the pairs of best-of-four items: the chosen answer against each rejected one.

    A pair has id, prompt, chosen, rejected, culture, language, topic, domain and elsewhere: the culture of
    its rejected answer, its own where another question of the culture has lent it. A culture is named after
    its language."""
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
    """Return the pairs of a dataset's preference rows (id, prompt, chosen, rejected: one answer or
    several)."""
    return [
        {**row, "id": f"{row['id']}_{number}", "rejected": answer}
        for row in rows
        for number, answer in enumerate(
            [row["rejected"]] if isinstance(row["rejected"], str) else row["rejected"]
        )
    ]


def dealt(
    pairs: Sequence[dict],
    sizes: dict[str, int],
    seed: int,
    where: str = "think_as_locals",
    last: Collection[str] = (),
) -> dict[str, list[dict]]:
    """Deal pairs out to uses {use: how many} in the order of their hashes, no pair twice; and what is left as
    `rest`.

    last: ids of pairs that come behind all others. Raises PolyrewardError where there are too few for all of
    them; where: which settings are to blame."""
    order = sorted(pairs, key=lambda pair: (pair["id"] in last, job_seed(seed, "locals", "pair", pair["id"])))
    if len(order) < sum(sizes.values()):
        asked = ", ".join(f"{use} {size}" for use, size in sizes.items())
        raise PolyrewardError(
            f"{where}: {len(order)} pairs to train on, but {asked} are asked for; lower them, or raise"
            " carb.training_share, or name more data"
        )
    hands = {}
    for use, size in sizes.items():
        hands[use], order = order[:size], order[size:]
    return {**hands, "rest": order}


def _claimed(
    pairs: Sequence[dict], count: int, shares: Mapping[str, float], seed: int
) -> tuple[list[dict], list[dict]]:
    """Return (the pairs that each source's share of `count` claims, by the order of their hashes; all
    others)."""
    claimed = []
    for source, share in shares.items():
        of_source = [pair for pair in pairs if _source(pair) == source]
        wanted = min(round(share * count), count - len(claimed))
        if len(of_source) < wanted:
            announce(
                f"think_as_locals: {source} has {len(of_source)} pairs of the {wanted} that its share claims"
            )
        claimed += dealt(of_source, {"claimed": min(wanted, len(of_source))}, seed)["claimed"]
    taken = {pair["id"] for pair in claimed}
    return claimed, [pair for pair in pairs if pair["id"] not in taken]


def _source(pair: dict) -> str:
    return (
        OWN if "culture" in pair else pair["source"].split("/")[0]
    )  # of templates, each file is a source of its own


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
    easy_shares: Mapping[str, float] | None = None,
) -> dict[str, list[dict]]:
    """Deal pairs out: {"warmup", "grpo", "held_out", "samples"}, no pair twice.

    own: pairs of items; others: of datasets, for GRPO beside the rest of them; easy: pairs that are easy to
    tell apart; easy_shares: {"warmup", "grpo": their share of it}, and in GRPO they come first. shares:
    {source, OWN for items: share of the rest of GRPO's pairs}; what a source lacks is filled from all.
    held_out: pairs, one of each of so many items, to see what is learnt of the topics that are trained on:
    the other pairs of these items are GRPO's before all others, and the warm-up gets pairs without their
    answers first, as from others it learns that the answer is right, or wrong, whatever is asked. samples: so
    many of each culture, to show what judges reply."""
    many = {
        use: round((easy_shares or {}).get(use, 0) * size)
        for use, size in (("warmup", warmup), ("grpo", grpo))
    }
    simple = dealt(easy, many, seed, "think_as_locals.easy")
    kept, partners, left = _one_of_each(own, held_out, seed)
    alike = _with_answers_of([*kept, *partners], left)
    first = dealt(left, {"warmup": warmup - many["warmup"]}, seed, last=alike)
    lacking = sum(pair["id"] in alike for pair in first["warmup"])
    if lacking:
        announce(
            f"think_as_locals: {lacking} pairs of the warm-up have an answer of a held-out item; there are no"
            " others"
        )
    hard = grpo - many["grpo"]
    rest = first["rest"] if len(partners) < hard else []
    claimed, unclaimed = _claimed([*partners, *rest, *others], hard, shares or {}, seed)
    second = dealt(unclaimed, {"grpo": hard - len(claimed)}, seed)
    mixed = dealt([*claimed, *second["grpo"]], {"grpo": hard}, seed)
    taught = {pair["id"] for pair in mixed["grpo"]}
    left = [pair for pair in first["rest"] if pair["id"] not in taught]
    shown = [
        [pair for pair in left if pair["culture"] == culture][:samples]
        for culture in sorted({p["culture"] for p in left})
    ]
    return {
        "warmup": [*simple["warmup"], *first["warmup"]],
        "grpo": [*simple["grpo"], *mixed["grpo"]],
        "held_out": kept,
        "samples": [pair for of_culture in shown for pair in of_culture],
    }


def _one_of_each(pairs: Sequence[dict], count: int, seed: int) -> tuple[list[dict], list[dict], list[dict]]:
    """Return (one pair of each of `count` items, the other pairs of these items, the pairs of all other
    items), by hash."""
    order = dealt(pairs, {}, seed)["rest"]
    items = list(dict.fromkeys(map(_item, order)))
    if len(items) < count:
        raise PolyrewardError(
            f"think_as_locals.held_out: {count} items, but {len(items)} are there to train on; lower it, or"
            " raise carb.training_share"
        )
    chosen = set(items[:count])
    kept = {_item(pair): pair for pair in reversed(order) if _item(pair) in chosen}
    partners = [pair for pair in order if _item(pair) in chosen and kept[_item(pair)] is not pair]
    return (
        [kept[item] for item in items[:count]],
        partners,
        [pair for pair in order if _item(pair) not in chosen],
    )


def _with_answers_of(taken: Sequence[dict], pairs: Sequence[dict]) -> set[str]:
    """Return the ids of the pairs that have an answer of those that are taken."""
    texts = {answer for pair in taken for answer in (pair["chosen"], pair["rejected"])}
    return {pair["id"] for pair in pairs if texts & {pair["chosen"], pair["rejected"]}}


def _item(pair: dict) -> tuple[str, str]:
    return pair["topic"], pair["culture"]


def both_orders(pairs: Sequence[dict]) -> list[dict]:
    """Return each pair as two questions beside one another, the right answer first and then second.

    Returns id, request, right (the label of the right answer) and the pair itself."""
    return [
        {
            "id": f"{pair['id']}_{right}",
            "request": question(pair["prompt"], first, second),
            "right": right,
            "pair": pair,
        }
        for pair in pairs
        for right, first, second in zip(
            LABELS, (pair["chosen"], pair["rejected"]), (pair["rejected"], pair["chosen"]), strict=True
        )
    ]


def one_order_each(pairs: Sequence[dict]) -> list[dict]:
    """Return one question for each pair, the right answer first and second in turn."""
    return [both_orders([pair])[number % len(LABELS)] for number, pair in enumerate(pairs)]
