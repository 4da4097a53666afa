"""Which items are the benchmark: three rejected answers each, balanced positions, and topics held out to
train on."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

from polyreward.carb.items.filters import ANSWERS, any_alike
from polyreward.core.seeds import job_seed

# Of an answer. generator: only of one that a model has written; topic: only of one that another question of
# the culture has lent
PROVENANCE = ("value", "culture", "topic", "check", "generator")


def finished_items(items: Sequence[dict], seed: int, items_per_cell: int | None = None) -> list[dict]:
    """Draw three wrong answers for each item and put all four in an order; return items as the benchmark has
    them.

    items_per_cell: at most so many of each culture and domain, drawn by hash; a smaller number gives a part
    of the items that a larger one gives. Items with a `family` come first, in whole groups of four that share
    their answers. A culture that has given fewer wrong answers to this cell so far comes first. The chosen
    answer's position is each of the four equally often within a cell, or once more."""
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
    positions = sorted(
        range(ANSWERS), key=lambda position: job_seed(seed, "carb", "position", *cell, position)
    )
    groups = quartets([item for item in items if "family" in item], seed)
    grouped = [item for group in groups for item in with_answers(group)]
    others = [item for item in items if "family" not in item]
    by_hash = [*grouped, *sorted(others, key=lambda item: job_seed(seed, "carb", "item", item["id"]))][:count]
    chosen_at = {item["id"]: positions[number % ANSWERS] for number, item in enumerate(by_hash)}
    used = Counter()
    for item in by_hash:
        rejected = (
            _rejected(item, used, seed)
            if "family" not in item
            else [{**answer, "culture": item["culture"]} for answer in item["answers"]]
        )
        used.update(answer["culture"] for answer in rejected)
        answers = sorted(
            rejected, key=lambda answer: job_seed(seed, "carb", "order", item["id"], answer["value"])
        )
        answers.insert(chosen_at[item["id"]], {**item["chosen"], "culture": item["culture"]})
        yield {
            **{key: item[key] for key in ("id", "culture", "domain", "source", "topic", "prompt")},
            "answers": [answer["text"] for answer in answers],
            "chosen": chosen_at[item["id"]],
            "references": [{key: answer[key] for key in PROVENANCE if key in answer} for answer in answers],
        }


def _rejected(item: dict, used: Counter, seed: int) -> list[dict]:
    options = [
        (
            used[culture],
            job_seed(seed, "carb", "rejected", item["id"], culture),
            {**answer, "culture": culture},
        )
        for answer in item["answers"]
        for culture in answer["cultures"]
    ]
    drawn: dict[str, dict] = {}
    for _, _, answer in sorted(options, key=lambda option: option[:2]):
        if len(drawn) < ANSWERS - 1:
            drawn.setdefault(answer["value"], answer)
    return list(drawn.values())


def item_problems(items: Sequence[dict], references: Sequence[dict]) -> Iterator[str]:
    """Yield each finished item's faults against the references: what is wrong for a culture must not be its
    own.

    Every answer's value must be that of the culture it was taken from; the four values differ, and so do the
    four texts."""
    values = {(row["topic"], row["culture"]): row["value"] for row in references}
    for item in items:
        for position, (reference, text) in enumerate(zip(item["references"], item["answers"], strict=True)):
            own = values[item["topic"], item["culture"]]
            right = position == item["chosen"]
            topic = reference.get("topic", item["topic"])
            if reference["value"] != values.get((topic, reference["culture"])):
                yield f"{item['id']}: {reference['value']} is not the value of {reference['culture']}"
            of_item = (topic, reference["culture"]) == (item["topic"], item["culture"])
            if right != (reference["value"] == own) or right != of_item:
                yield (
                    f"{item['id']}: answer {position} ({text}) is {'not ' if right else ''}right for"
                    f" {item['culture']}"
                )
        if any(
            len(set(four)) < ANSWERS
            for four in (item["answers"], [reference["value"] for reference in item["references"]])
        ):
            yield f"{item['id']}: two of its answers are the same"


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
    return not any_alike([item["chosen"]["text"] for item in group])


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


def split_topics(
    references: Sequence[dict], items: Sequence[dict], share: float, seed: int, training: bool
) -> tuple[list[dict], list[dict]]:
    """Return the references and the possible items of the topics that are held out to train on, or of all
    others."""
    held_out = held_out_topics({family(row): row["domain"] for row in references}, share, seed)
    return tuple(
        [row for row in rows if (family(row) in held_out) == training] for rows in (references, items)
    )
