"""Published question sets as our rows: open questions, accepted answers, or options with one right."""

from collections.abc import Iterator, Mapping, Sequence

from polyreward.core.errors import PolyrewardError, raise_all

OPTIONS = ("option_a", "option_b", "option_c", "option_d")
LISTED = 10  # bad rows in an error
ACCEPTED = ("answers", "en_answers")  # the texts of one annotation
# From how many annotators on a question is left out; BLEnD, evaluation/exact_match.py of
# github.com/nlee0212/BLEnD.
NOBODY_ANSWERS, NOBODY_KNOWS = 3, 5


def option_rows(records: Sequence[dict], where: str) -> Iterator[dict]:
    """Yield questions with four `options` and `right`, the number of the right one from 0.

    Raises:
        PolyrewardError: names the rows with another `answer` than such a number.
    """
    raise_all(
        (
            f"row {number}: answer {record['answer']} is none of 0 to 3"
            for number, record in enumerate(records)
            if record["answer"] not in range(len(OPTIONS))
        ),
        where,
        LISTED,
    )
    for record in records:
        options = [str(record[name] or "").strip() for name in OPTIONS]
        if record["prompt"] and all(options):
            yield {**_named(record), "options": options, "right": int(record["answer"])}


def annotated_rows(records: Sequence[dict], where: str) -> Iterator[dict]:
    """Yield questions with all annotators' `accepted` answers, in the question's language and in English.

    A question that too many annotators could not answer is left out. `unknown` is their number by reason."""
    for record in records:
        unknown = {key: count or 0 for key, count in (record.get("unknown") or {}).items()}
        unanswerable = unknown.get("no-answer", 0) + unknown.get("not-applicable", 0) >= NOBODY_ANSWERS
        texts = [
            text for kind in ACCEPTED for one in record["annotations"] or [] for text in one.get(kind) or []
        ]
        accepted = [text.strip() for text in dict.fromkeys(map(str, texts)) if text.strip()]
        if record["prompt"] and accepted and not unanswerable and unknown.get("idk", 0) < NOBODY_KNOWS:
            yield {**_named(record), "accepted": accepted}


def open_rows(records: Sequence[dict], where: str) -> Iterator[dict]:
    """Yield open questions with one answer as their `reference`; leave out those without either text."""
    for record in records:
        if record["prompt"] and record["reference"]:
            yield {**_named(record), "reference": record["reference"]}


def _named(record: Mapping) -> dict:
    return {**({"id": str(record["id"])} if "id" in record else {}), "prompt": record["prompt"].strip()}


# {a column that only one of them has: the rows}
SHAPES = {"answer": option_rows, "annotations": annotated_rows, "reference": open_rows}


def question_rows(records: Sequence[dict], where: str) -> list[dict]:
    """Return the rows of one language of a set: prompt, id if any, and the key by which an answer is rated.

    Raises:
        PolyrewardError: no row is left.
    """
    shape = next(shape for column, shape in SHAPES.items() if column in records[0])
    rows = list(shape(records, where))
    if not rows:
        raise PolyrewardError(
            f"{where}: none of its {len(records)} rows has a question and an answer; its layout has changed"
        )
    return rows
