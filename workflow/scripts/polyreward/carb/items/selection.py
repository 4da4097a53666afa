"""From filtered items to the benchmark: three rejected answers, spread over cultures, and balanced
positions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from polyreward.carb.items.filters import COUNT_COLUMNS, empty_cells
from polyreward.carb.items.quartets import quartets, with_answers
from polyreward.carb.items.references import ANSWERS
from polyreward.core.errors import raise_all
from polyreward.core.seeds import job_seed

SELECTION_COLUMNS = [*COUNT_COLUMNS, "items_drawn"]
# Of an answer. generator: only of one that a model has written; topic: only of one that another question of
# the culture has lent
PROVENANCE = ("value", "culture", "topic", "check", "generator")


def checked_items(
    kept: Sequence[dict],
    counts: Sequence[dict],
    references: Sequence[dict],
    cultures: Sequence[str],
    domains: Sequence[str],
    seed: int,
    items_per_cell: int | None,
) -> dict[str, list[dict]]:
    """Return {culture: finished items}; kept, counts: as filters.kept_items returns them; items_per_cell: as
    in finished_items.

    Raises PolyrewardError that names every culture and domain without an item, and every fault that
    item_problems finds."""
    raise_all(empty_cells(counts, cultures, domains), "carb")
    items = finished_items(kept, seed, items_per_cell)
    made = {(item["culture"], item["domain"]) for item in items}
    raise_all(
        (
            f"{culture}, {domain}: no four questions have answers that can stand side by side; write more"
            " topics"
            for culture in cultures
            for domain in domains
            if (culture, domain) not in made
        ),
        "carb",
    )
    raise_all(item_problems(items, references), "carb")
    return {culture: [item for item in items if item["culture"] == culture] for culture in cultures}


def selection_counts(counts: Sequence[dict], items: Iterable[dict]) -> list[dict]:
    """Return the counts of filters.kept_items with how many items of each culture and domain were drawn
    (SELECTION_COLUMNS)."""
    drawn = Counter((item["culture"], item["domain"]) for item in items)
    return [{**row, "items_drawn": drawn[row["culture"], row["domain"]]} for row in counts]


def finished_items(items: Sequence[dict], seed: int, items_per_cell: int | None = None) -> list[dict]:
    """Draw three wrong answers for each item and put all four in an order; returns items as the benchmark has
    them.

    items_per_cell: at most so many of each culture and domain, drawn by hash; None for all. A smaller number
    gives a part of the items that a larger one gives, with the same answers in the same order. Items with a
    `family` come first, in whole groups of four (quartets.py) that share their four answers. A culture that
    has given fewer wrong answers to this culture and domain so far comes first, equal ones by hash. The
    chosen answer's position is each of the four equally often within a culture and domain, or once more."""
    cells = defaultdict(list)
    for item in items:
        cells[item["culture"], item["domain"]].append(item)
    return [
        finished
        for cell, of_cell in cells.items()
        for finished in _finished_cell(cell, of_cell, seed, items_per_cell)
    ]


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
