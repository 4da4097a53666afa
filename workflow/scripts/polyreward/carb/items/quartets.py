"""Four questions that share their four answers, each right for one: whoever reads no question gets one in
four, exactly.

A question of a topic with `own` or `shares` has no wrong answers of its own. It has a `family`, its topic,
whose questions stay together (an offensive request and a harmless one; a survey's question and its contrary),
and a `scale`: only questions of the same scale have answers that can stand side by side."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

from polyreward.carb.items.filters import same_text
from polyreward.carb.items.references import ANSWERS
from polyreward.core.seeds import job_seed

Items = list[dict]


def quartets(items: Sequence[dict], seed: int) -> list[Items]:
    """Return groups of four questions of one culture and domain whose answers differ; what is left over is in
    none.

    Families that ask one question are taken four at a time, those that ask two are paired, the ones with the
    fewest possible partners first, all by hash. Items are in the order of their groups."""
    units: dict[str, dict[str, Items]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        units[item["family"]][item["scale"]].append(item)
    order = sorted(units, key=lambda family: job_seed(seed, "carb", "quartet", family))
    singles = [unit[0] for family in order for unit in units[family].values() if len(unit) == 1]
    found = [singles[start : start + ANSWERS] for start in range(0, len(singles) - ANSWERS + 1, ANSWERS)]
    found = [group for group in found if _differ(group)]
    pairs = {
        family: [unit for unit in units[family].values() if len(unit) == ANSWERS // 2] for family in order
    }
    return found + _paired({family: of_family for family, of_family in pairs.items() if of_family})


def with_answers(group: Items) -> Iterator[dict]:
    """Yield a group's items as filters.kept_items returns others: each with the other three's answers as its
    wrong ones."""
    for item in group:
        others = [other for other in group if other is not item]
        yield {
            **item,
            "chosen": {**item["chosen"], "topic": item["topic"]},
            "answers": [
                {**other["chosen"], "topic": other["topic"], "cultures": [item["culture"]]}
                for other in others
            ],
        }


def _paired(families: dict[str, list[Items]]) -> list[Items]:
    """Pair families, each once; families: {name: its units of two items, one for each scale}."""
    partners = {name: {} for name in families}
    for one, other in product(families, families):
        if one != other:
            fitting = (a + b for a, b in product(families[one], families[other]) if _match(a, b))
            group = next(fitting, None)
            if group:
                partners[one][other] = group
    found = []
    while any(partners.values()):
        one = min((name for name in partners if partners[name]), key=lambda name: len(partners[name]))
        other = min(partners[one], key=lambda name: len(partners[name]))
        found.append(partners[one][other])
        for gone in (one, other):
            del partners[gone]
            for left in partners.values():
                left.pop(gone, None)
    return found


def _match(one: Items, other: Items) -> bool:
    return one[0]["scale"] == other[0]["scale"] and _differ(one + other)


def _differ(group: Items) -> bool:
    texts = [item["chosen"]["text"] for item in group]
    return not any(same_text(one, two) for number, one in enumerate(texts) for two in texts[:number])
