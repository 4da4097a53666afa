"""Combine each culture's own answer with other cultures' references."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from polyreward.carb.items.cultures import read_cultures
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run

# Of a reference's row in its item; family and scale only where another question's answers are the wrong ones
KEPT = ("culture", "domain", "source", "topic", "prompt", "is_fact", "family", "scale")


def possible_items(references: Iterable[dict], cultures: dict) -> Iterator[dict]:
    """Yield an item for each unambiguous reference: its culture's own answer and every mismatched one.

    chosen: {value, check, text}; shared: other cultures with the same right answer; answers: [{value, check,
    cultures, text}]. All texts are in the culture's language and its `unlabelled` frame. selection.py gives
    items with a `family` their answers."""
    by_topic = defaultdict(list)
    for row in references:
        if row["value"] is not None:
            by_topic[row["topic"]].append(row)
    for rows in by_topic.values():
        for row in rows:
            others = [] if "family" in row else [other for other in rows if other is not row]
            yield _item(row, others, cultures["languages"][row["culture"]]["unlabelled"])


def _item(row: dict, others: Sequence[dict], frame: str) -> dict:
    def answer(reference: dict) -> dict:
        text = frame.replace("{answer}", reference["texts"][row["culture"]])
        return {"value": reference["value"], "check": reference["check"], "text": text}

    by_value = defaultdict(list)
    for other in others:
        by_value[other["value"]].append(other)
    shared = by_value.pop(row["value"], [])
    return {
        "id": f"{row['topic']}_{row['culture']}",
        **{key: row[key] for key in KEPT if key in row},
        "chosen": answer(row),
        "shared": [other["culture"] for other in shared],
        "answers": [
            {**answer(same[0]), "cultures": [other["culture"] for other in same]}
            for same in by_value.values()
        ],
    }


def main(snakemake):
    cultures = read_cultures(snakemake.input.cultures, snakemake.params.cultures)
    write_jsonl(possible_items(read_jsonl(snakemake.input.references), cultures), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
