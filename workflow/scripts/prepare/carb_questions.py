"""Read the question sets for the checks of CARB."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyreward.carb.downstream.ratings import LETTERS, PARTICLES_FOLLOW, plain
from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import PROBLEMS
from polyreward.prepare.pair_shape import AS_TEXT
from polyreward.prepare.row_files import file_rows

KINDS = ("accepted", "options", "reference")  # what an answer is rated by: a question has one of them


def downstream_questions(
    files: Sequence[str], cultures: Sequence[str], per_culture: int | None, seed: int
) -> list[dict]:
    """Return all sets' questions: id, downstream (the set), culture, prompt, shown (to a base), one of KINDS.

    Args:
        files: YAML like resources/carb/questions.yaml, or JSON Lines of id, language (or culture),
            prompt, and one of KINDS; `options` are four texts, `right` is the right one's number from 0.
        per_culture: questions per set and culture, drawn by hash; None for all.
    """
    found = []
    for path in map(Path, files):
        if path.suffix == ".yaml":
            of_file = accepted_questions(read_yaml(path), cultures, str(path))
        else:
            of_file = _of_lines(path, cultures)
        found += ({**question, "downstream": path.stem} for question in of_file)
    counts = Counter(question["id"] for question in found)
    twice = (id_ for id_ in counts if counts[id_] > 1)
    raise_all((f"`{id_}` appears twice; give each its own id" for id_ in twice), "carb.questions")
    return drawn(found, ["downstream", "culture"], per_culture, seed, "carb", "questions")


def _of_lines(path: Path, cultures: Sequence[str]) -> Iterator[dict]:
    rows = list(file_rows(path))
    problems = (problem for place, row in rows for problem in _line_problems(place, row))
    raise_all(problems, f"{path}: questions", PROBLEMS)
    asked = [row for _, row in rows if _culture(row) in cultures]
    if not asked:
        listed = ", ".join(cultures)
        raise PolyrewardError(f"{path}: has no question of {listed}, the cultures of carb.cultures")
    return map(_asked, asked)


def _culture(row: dict) -> str | None:
    return row.get("culture", row.get("language"))


def _line_problems(place: str, row: dict | str) -> Iterator[str]:
    if isinstance(row, str):
        yield f"{place}: {row}"
        return
    for key, value in (("id", row.get("id")), ("language", _culture(row)), ("prompt", row.get("prompt"))):
        if not _texts([value]):
            yield f"{place}: `{key}` is no text; give one"
        elif AS_TEXT.match(value):
            yield f"{place}: `{key}` holds messages as text (pandas writes CSV so); write plain text"
    given, count = [kind for kind in KINDS if row.get(kind) is not None], len(LETTERS)
    if len(given) != 1:
        yield f"{place}: has {' and '.join(given) or 'no answer'}; give one of {', '.join(KINDS)}"
    elif given == ["options"] and not (
        _texts(row["options"]) and len(row["options"]) == count and row.get("right") in range(count)
    ):
        yield f"{place}: `options` are not {count} texts, or `right` is none of 0 to {count - 1}"
    elif given == ["accepted"] and not _texts(row["accepted"]):
        yield f"{place}: `accepted` is no list of texts; give one or more"
    elif given == ["reference"] and not _texts([row["reference"]]):
        yield f"{place}: `reference` is no text; give one"


def _texts(values: object) -> bool:
    is_list = isinstance(values, list) and bool(values)
    return is_list and all(isinstance(value, str) and value.strip() for value in values)


def _asked(row: dict) -> dict:
    """Return a line as a question, with its options below the prompt.

    Source: INCLUDE in lm-evaluation-harness, lm_eval/tasks/include/default."""
    given = {key: row[key] for key in (*KINDS, "right") if row.get(key) is not None}
    shown = prompt = row["prompt"]
    if "options" in given:
        options = [f"{letter}. {text}" for letter, text in zip(LETTERS, row["options"], strict=True)]
        shown = prompt = "\n".join([prompt, *options, "Answer:"])
    else:
        shown += "\n"
    return {"id": row["id"], "culture": _culture(row), **given, "prompt": prompt, "shown": shown}


def accepted_questions(data: dict, cultures: Sequence[str], where: str) -> list[dict]:
    """Return some cultures' questions: id, culture, prompt, shown (to a base), and accepted answers.

    data: as resources/carb/questions.yaml explains it. Raises PolyrewardError that names every culture
    without questions, and every bad question."""
    write = "write some, in a file that carb.questions names"
    missing = (culture for culture in cultures if culture not in data)
    raise_all((f"culture {culture} has no questions; {write}" for culture in missing), where)
    raise_all((p for culture in cultures for p in _accepted_problems(culture, data[culture])), where)
    return [question for culture in cultures for question in _of_culture(culture, data[culture])]


def _accepted_problems(culture: str, entry: dict) -> Iterator[str]:
    whole = []
    for number, question in enumerate(entry["questions"], 1):
        lacks = [key for key in ("asks", "prompt", "accepted") if not question.get(key)]
        if lacks:
            yield f"{culture}, question {number}: has no `{'`, `'.join(lacks)}`; write it"
        else:
            whole.append(question)
    for question in whole:
        where = f"{culture}: {question['asks']}"
        if not isinstance(question["accepted"], list):
            yield f"{where}: `accepted` is no list; write one, also of a single answer"
            continue
        for text in map(str, question["accepted"]):
            if not plain(text):
                yield f"{where}: “{text}” has neither letter nor digit; correct it"
            elif re.fullmatch(f"[{PARTICLES_FOLLOW}]", plain(text)):
                many = "is a single letter, which occurs in many words. Write a longer answer"
                yield f"{where}: “{text}” {many}"
    counts = Counter(question["prompt"] for question in whole)
    examples = {example[0] for example in entry["examples"]}
    for prompt in sorted(counts):
        if counts[prompt] > 1:
            yield f"{culture}: “{prompt}” appears twice; keep one"
        if prompt in examples:
            yield f"{culture}: “{prompt}” is an example too, with its answer; take another example"


def _of_culture(culture: str, entry: dict) -> Iterator[dict]:
    asks, answers = entry["question"], entry["answer"]
    shots = "".join(f"{asks} {asked}\n{answers} {answer}\n\n" for asked, answer in entry["examples"])
    for number, question in enumerate(entry["questions"], 1):
        yield {
            "id": f"{question['asks']}-{number}_{culture}",
            "culture": culture,
            "prompt": question["prompt"],
            "shown": f"{shots}{asks} {question['prompt']}\n{answers}",
            "accepted": list(dict.fromkeys(question["accepted"])),
        }


def main(snakemake):
    write_jsonl(downstream_questions(list(snakemake.input), **snakemake.params.choices), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
