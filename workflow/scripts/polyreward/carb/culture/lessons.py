"""Lessons: facts of place quartets that a reward model is taught, and what it is asked afterwards."""

from collections.abc import Iterator, Sequence

from polyreward.carb.culture.quartets import FACT
from polyreward.core.errors import PolyrewardError
from polyreward.core.seeds import job_seed

# What a quartet is to a reward model that had lessons: taught; about other places of a taught topic; or new
TAUGHT, OTHER_PLACES, UNSEEN = PARTS = ("taught", "other places", "unseen topic")


def parts_of(rows: Sequence[dict], seed: int) -> dict[str, str]:
    """Return the part of PARTS that each quartet of facts belongs to, the same in every language.

    Of the topics that have two quartets or more, half are drawn by hash. Their first quartet is taught; the
    others are about other places. rows: of quartets.quartet_rows. Raises PolyrewardError where fewer than two
    topics have two."""
    quartets: dict[str, list[str]] = {}
    for row in rows:
        if row["kind"] == FACT and row["quartet"] not in quartets.setdefault(row["topic"], []):
            quartets[row["topic"]].append(row["quartet"])
    several = [topic for topic, names in quartets.items() if len(names) > 1]
    if len(several) < 2:
        raise PolyrewardError(
            "place quartets: fewer than two topics have two quartets, so none can be taught and asked about"
            " other places; raise carb.quartets.per_topic, name more cultures, or leave carb.lessons out"
        )
    drawn = sorted(several, key=lambda topic: job_seed(seed, "carb", "lesson", topic))
    taught = set(drawn[: (len(drawn) + 1) // 2])
    return {
        name: UNSEEN if topic not in taught else OTHER_PLACES if number else TAUGHT
        for topic, names in quartets.items()
        for number, name in enumerate(names)
    }


def lesson_pairs(rows: Sequence[dict], further: Sequence[dict], seed: int) -> Iterator[dict]:
    """Yield the preference pairs of the quartets that are taught: a place's answer against the other three.

    A quartet is one request, so that all its pairs are in one batch. Each of its answers is right once and
    wrong three times, so only what fits the place can be learnt. rows: of quartets.quartet_rows. further: the
    rows of other quartets of these topics, about nearly the same places, which are in lessons only."""
    parts = parts_of(rows, seed)
    topics = {row["topic"] for row in rows if parts.get(row["quartet"]) == TAUGHT}
    lessons = [row for row in rows if parts.get(row["quartet"]) == TAUGHT]
    for row in [*lessons, *(row for row in further if row["topic"] in topics)]:
        if row["place"] is None:
            continue
        chosen = row["answers"][row["chosen"]]
        for number, rejected in enumerate(row["answers"]):
            if number != row["chosen"]:
                yield {
                    "id": f"{row['id']}_{number + 1}",
                    "template": row["topic"],
                    "request": row["quartet"],
                    "prompt": row["prompt"],
                    "chosen": chosen,
                    "rejected": rejected,
                }
