"""The questions that policies answer, to see what a score is worth: sets of ours, of the hub, and of the
user's own.

A set is named after its file. Its questions have accepted answers, options of which one is right, or a
reference."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from polyreward.carb.items.questions import accepted_questions
from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import json_rows
from polyreward.core.yaml_files import read_yaml

KINDS = ("accepted", "options", "reference")  # what an answer is rated by: a question has one of them
LETTERS = "ABCD"


def downstream_questions(
    files: Sequence[str], cultures: Sequence[str], per_culture: int | None, seed: int
) -> list[dict]:
    """Return the questions of all sets: id, downstream (the set), culture, prompt, shown (what a base
    continues), one of KINDS.

    files: YAML as resources/carb/questions.yaml, or JSON Lines: a question a line with id, language (or
    culture), prompt, and one of KINDS; `options` are four texts, with the number of the `right` one from 0.
    cultures: whose questions are taken. per_culture: questions of each set and culture, drawn by hash; None
    for all. Raises PolyrewardError with all that is amiss."""
    found = []
    for path in map(Path, files):
        of_file = _of_yaml if path.suffix == ".yaml" else _of_lines
        asked = [{**question, "downstream": path.stem} for question in of_file(path, cultures)]
        found += drawn(asked, ["culture"], per_culture, seed, "carb", "questions")
    raise_all(
        (f"two sets have a question `{id_}`; give one another id" for id_ in _twice(found)), "carb.questions"
    )
    return found


def _of_yaml(path: Path, cultures: Sequence[str]) -> list[dict]:
    return accepted_questions(read_yaml(path), cultures, str(path))


def _of_lines(path: Path, cultures: Sequence[str]) -> list[dict]:
    rows = list(json_rows(path))
    raise_all((problem for place, row in rows for problem in _problems(place, row)), f"{path}: questions")
    raise_all(
        (f"`{id_}` stands twice; give each its own" for id_ in _twice(row for _, row in rows)),
        f"{path}: questions",
    )
    asked = [_asked({**row, "culture": _culture(row)}) for _, row in rows if _culture(row) in cultures]
    if not asked:
        raise PolyrewardError(
            f"{path}: has no question of {', '.join(cultures)}, the cultures of carb.cultures"
        )
    return asked


def _twice(questions: Iterable[dict]) -> list[str]:
    return [id_ for id_, count in Counter(question["id"] for question in questions).items() if count > 1]


def _culture(row: dict) -> str | None:
    return row.get("culture", row.get("language"))


def _problems(place: str, row: dict | str) -> Iterator[str]:
    """Yield what is wrong with a question of a set, in words."""
    if isinstance(row, str):
        yield f"{place}: {row}"
        return
    for key, value in (("id", row.get("id")), ("language", _culture(row)), ("prompt", row.get("prompt"))):
        if not isinstance(value, str) or not value.strip():
            yield f"{place}: `{key}` is no text; give one"
    given = [kind for kind in KINDS if kind in row]
    if len(given) != 1:
        yield f"{place}: has {' and '.join(given) or 'no answer'}; give one of {', '.join(KINDS)}"
    elif given == ["options"] and (
        not _texts(row["options"], len(LETTERS)) or row.get("right") not in range(len(LETTERS))
    ):
        yield (
            f"{place}: `options` are not {len(LETTERS)} texts, or `right` is none of 0 to {len(LETTERS) - 1}"
        )
    elif given == ["accepted"] and not _texts(row["accepted"]):
        yield f"{place}: `accepted` is no list of texts; give one or more"
    elif given == ["reference"] and not _texts([row["reference"]]):
        yield f"{place}: `reference` is no text; give one"


def _texts(values: object, count: int | None = None) -> bool:
    if not isinstance(values, list) or not values or (count is not None and len(values) != count):
        return False
    return all(isinstance(value, str) and value.strip() for value in values)


def _asked(row: dict) -> dict:
    """Return a line as a question.

    Options stand below it. Source: INCLUDE in lm-evaluation-harness, lm_eval/tasks/include/default."""
    known = {key: row[key] for key in ("id", "culture", *KINDS, "right") if key in row}
    if "options" not in row:
        return {**known, "prompt": row["prompt"], "shown": f"{row['prompt']}\n"}
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, row["options"], strict=True)]
    prompt = "\n".join([row["prompt"], *options, "Answer:"])
    return {**known, "prompt": prompt, "shown": prompt}
