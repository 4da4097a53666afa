"""Lessons: facts of place quartets that a reward model is taught, and what it is asked afterwards."""

from collections.abc import Iterator, Sequence

from polyreward.core.errors import PolyrewardError
from polyreward.core.seeds import job_seed
from polyreward.prepare.topics import FACT

# What a quartet is to a reward model that had lessons: taught; about other places of a taught topic; or new
LESSONS = 18  # topics that are taught, at most
TAUGHT, OTHER_PLACES, UNSEEN = PARTS = ("taught", "other places", "unseen topic")


def parts_of(rows: Sequence[dict], seed: int) -> dict[str, str]:
    """Return the part of PARTS that each quartet of facts belongs to, the same in every language.

    The first quartets of some topics are taught, drawn by hash: of half of those with the most quartets, and
    of LESSONS at most. Their other quartets are about other places. rows: of quartets.quartet_rows. Raises
    PolyrewardError where fewer than two topics can be drawn from."""
    quartets: dict[str, list[str]] = {}
    for row in rows:
        if row["kind"] == FACT and row["quartet"] not in quartets.setdefault(row["topic"], []):
            quartets[row["topic"]].append(row["quartet"])
    most = max(map(len, quartets.values()), default=0)
    topics = [topic for topic, names in quartets.items() if len(names) == most]
    if len(topics) < 2:
        raise PolyrewardError(
            f"place quartets: {len(topics)} topics of facts can be taught, and lessons need two, one of them"
            " without a lesson; name more cultures or topics, or leave carb.lessons out"
        )
    topics.sort(key=lambda topic: job_seed(seed, "carb", "lesson", topic))
    taught = set(topics[: min(LESSONS, len(topics) // 2)])
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
