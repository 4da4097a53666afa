"""Which items are the benchmark: three rejected answers, balanced positions, topics held out to train on."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from polyreward.carb.items.filters import ANSWERS, any_alike
from polyreward.core.seeds import job_seed

# Of an answer. generator: of one that a model wrote; topic: of one that another question lent
PROVENANCE = ("value", "culture", "topic", "check", "generator")


Items = list[dict]


def finished_items(items: Sequence[dict], seed: int, items_per_cell: int | None = None) -> list[dict]:
    """Return the benchmark's items: three wrong answers drawn for each, and all four put in an order.

    items_per_cell: at most so many of each culture and domain, drawn by hash; a smaller draw is part of a
    larger one. Items with a `family` come first, in whole groups of four that share their answers. Cultures
    give a cell about equally many wrong answers, and the right ones are at each position equally often."""
    cells = defaultdict(list)
    for item in items:
        cells[item["culture"], item["domain"]].append(item)
    return [
        finished
        for cell, of_cell in cells.items()
        for finished in _finished_cell(cell, of_cell, seed, items_per_cell)
    ]


def _finished_cell(
    cell: tuple[str, str], items: Sequence[dict], seed: int, count: int | None
) -> Iterator[dict]:
    def by_hash(*key) -> int:
        return job_seed(seed, "carb", *key)

    positions = sorted(range(ANSWERS), key=lambda position: by_hash("position", *cell, position))
    grouped = [item for group in groups_of_four(items, seed) for item in _with_answers(group)]
    others = [item for item in items if "family" not in item]
    others.sort(key=lambda item: by_hash("item", item["id"]))
    used = Counter()
    for number, item in enumerate([*grouped, *others][:count]):
        rejected = _rejected(item, used, seed)
        used.update(answer["culture"] for answer in rejected)
        place = positions[number % ANSWERS]
        answers = sorted(rejected, key=lambda answer, of=item["id"]: by_hash("order", of, answer["value"]))
        answers.insert(place, {**item["chosen"], "culture": item["culture"]})
        yield {
            **{key: item[key] for key in ("id", "culture", "domain", "source", "topic", "prompt")},
            "answers": [answer["text"] for answer in answers],
            "chosen": place,
            "references": [{key: answer[key] for key in PROVENANCE if key in answer} for answer in answers],
        }


def _rejected(item: dict, used: Counter, seed: int) -> list[dict]:
    def place(answer: dict) -> tuple[int, int]:
        return used[answer["culture"]], job_seed(seed, "carb", "rejected", item["id"], answer["culture"])

    options = [{**answer, "culture": culture} for answer in item["answers"] for culture in answer["cultures"]]
    drawn: dict[str, dict] = {}
    for answer in sorted(options, key=place):
        drawn.setdefault(answer["value"], answer)
    return list(drawn.values())[: ANSWERS - 1]


def _with_answers(group: Items) -> Iterator[dict]:
    """Yield a group's items, each with the other three's answers as its wrong ones."""
    for item in group:
        answers = [
            {**other["chosen"], "topic": other["topic"], "cultures": [item["culture"]]}
            for other in group
            if other is not item
        ]
        yield {**item, "chosen": {**item["chosen"], "topic": item["topic"]}, "answers": answers}


def groups_of_four(items: Sequence[dict], seed: int) -> list[Items]:
    """Return groups of four of a cell's items with a `family` whose answers differ; some may be in none.

    Families that ask one question are taken four at a time. Those that ask two are paired, the ones with the
    fewest possible partners first. All is by hash."""
    units: dict[str, dict[str, Items]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if "family" in item:
            units[item["family"]][item["scale"]].append(item)
    order = sorted(units, key=lambda family: job_seed(seed, "carb", "quartet", family))
    singles = [unit[0] for family in order for unit in units[family].values() if len(unit) == 1]
    found = [singles[start : start + ANSWERS] for start in range(0, len(singles) - ANSWERS + 1, ANSWERS)]
    pairs = {family: [unit for unit in units[family].values() if len(unit) == 2] for family in order}
    return [group for group in found if _differ(group)] + _paired({f: own for f, own in pairs.items() if own})


def _paired(families: dict[str, list[Items]]) -> list[Items]:
    """Pair families, each once; families: {name: its units of two items, one for each scale}."""
    partners = {name: {} for name in families}
    for one, other in permutations(families, 2):
        fitting = (
            a + b
            for a, b in product(families[one], families[other])
            if a[0]["scale"] == b[0]["scale"] and _differ(a + b)
        )
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


def _differ(group: Items) -> bool:
    return not any_alike([item["chosen"]["text"] for item in group])


def item_problems(items: Sequence[dict], references: Sequence[dict]) -> Iterator[str]:
    """Yield each finished item's faults against the references.

    What is wrong for a culture must not be its own. Every answer's value must be that of the culture it was
    taken from; the four values differ, and so do the four texts."""
    values = {(row["topic"], row["culture"]): row["value"] for row in references}
    for item in items:
        asked = item["topic"], item["culture"]
        for position, (reference, text) in enumerate(zip(item["references"], item["answers"], strict=True)):
            value, right = reference["value"], position == item["chosen"]
            taken_from = reference.get("topic", item["topic"]), reference["culture"]
            if value != values.get(taken_from):
                yield f"{item['id']}: {value} is not the value of {reference['culture']}"
            is_own, is_asked = value == values[asked], taken_from == asked
            if not right == is_own == is_asked:
                said = "not right" if right else "right"
                yield f"{item['id']}: answer {position} ({text}) is {said} for {item['culture']}"
        of_values = [reference["value"] for reference in item["references"]]
        if min(len(set(four)) for four in (item["answers"], of_values)) < ANSWERS:
            yield f"{item['id']}: two of its answers are the same"


TRAINING_SHARE = 0.15  # of each domain's topics, to train judges on; the paper does not give it


def held_out_topics(domains: dict[str, str], share: float, seed: int) -> set[str]:
    """Return the topics to train on: of each domain that share, rounded up, drawn by hash.

    domains: {topic: its domain}. A domain keeps one topic for the benchmark."""
    drawn = set()
    for domain in sorted(set(domains.values())):
        of_domain = [topic for topic, own in domains.items() if own == domain]
        of_domain.sort(key=lambda topic: job_seed(seed, "carb", "held out", topic))
        drawn |= set(of_domain[: min(math.ceil(share * len(of_domain)), len(of_domain) - 1)])
    return drawn


def split_topics(
    references: Sequence[dict], items: Sequence[dict], share: float, seed: int, training: bool
) -> tuple[list[dict], list[dict]]:
    """Return the references and possible items of the topics to train on, or of all others.

    Questions of a family are held out as one."""

    def topic(row: dict) -> str:
        return row.get("family", row["topic"])

    held_out = held_out_topics({topic(row): row["domain"] for row in references}, share, seed)
    return tuple(
        [row for row in rows if (topic(row) in held_out) == training] for rows in (references, items)
    )
