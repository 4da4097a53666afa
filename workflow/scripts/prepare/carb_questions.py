"""Read the question sets for the checks of CARB."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from polyreward.carb.downstream.ratings import LETTERS, PARTICLES_FOLLOW, plain
from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import PROBLEMS
from polyreward.prepare.pair_layouts import AS_TEXT
from polyreward.prepare.row_files import file_rows

KINDS = ("accepted", "options", "reference")  # what an answer is rated by: a question has one of them


def downstream_questions(
    files: Sequence[str], cultures: Sequence[str], per_culture: int | None, seed: int
) -> list[dict]:
    """Return the questions of all sets: id, downstream (the set), culture, prompt, shown (what a base
    continues), one of KINDS.

    Args:
        files: YAML like resources/carb/questions.yaml, or JSON Lines of id, language (or culture),
            prompt, and one of KINDS; `options` are four texts, `right` is the right one's number from 0.
        per_culture: questions per set and culture, drawn by hash; None for all.
    """
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
    rows = list(file_rows(path))
    raise_all(
        (problem for place, row in rows for problem in _line_problems(place, row)),
        f"{path}: questions",
        PROBLEMS,
    )
    raise_all(
        (f"`{id_}` appears twice; give each its own" for id_ in _twice(row for _, row in rows)),
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


def _line_problems(place: str, row: dict | str) -> Iterator[str]:
    if isinstance(row, str):
        yield f"{place}: {row}"
        return
    for key, value in (("id", row.get("id")), ("language", _culture(row)), ("prompt", row.get("prompt"))):
        if not isinstance(value, str) or not value.strip():
            yield f"{place}: `{key}` is no text; give one"
        elif AS_TEXT.match(value):
            yield f"{place}: `{key}` holds messages as text (pandas writes CSV so); write plain text"
    given = [kind for kind in KINDS if row.get(kind) is not None]
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
    """Return a line as a question, with its options below the prompt.

    Source: INCLUDE in lm-evaluation-harness, lm_eval/tasks/include/default.
    """
    known = {key: row[key] for key in ("id", "culture", *KINDS, "right") if row.get(key) is not None}
    if "options" not in known:
        return {**known, "prompt": row["prompt"], "shown": f"{row['prompt']}\n"}
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, row["options"], strict=True)]
    prompt = "\n".join([row["prompt"], *options, "Answer:"])
    return {**known, "prompt": prompt, "shown": prompt}


KEYS = ("asks", "prompt", "accepted")


def accepted_questions(data: dict, cultures: Sequence[str], where: str) -> list[dict]:
    """Return some cultures' questions: id, culture, prompt, shown (what a policy continues), and accepted
    answers.

    Args:
        data: {culture: question, answer, examples, questions}; resources/carb/questions.yaml explains them.

    Raises:
        PolyrewardError: names every culture without questions, and every bad question.
    """
    raise_all(
        (
            f"culture {culture} has no questions; write some, in a file that carb.questions names"
            for culture in cultures
            if culture not in data
        ),
        where,
    )
    raise_all((p for culture in cultures for p in _accepted_problems(culture, data[culture])), where)
    return [question for culture in cultures for question in _of_culture(culture, data[culture])]


def _of_culture(culture: str, entry: dict) -> Iterator[dict]:
    shots = "".join(
        f"{entry['question']} {asked}\n{entry['answer']} {answer}\n\n" for asked, answer in entry["examples"]
    )
    for number, question in enumerate(entry["questions"], 1):
        yield {
            "id": f"{question['asks']}-{number}_{culture}",
            "culture": culture,
            "prompt": question["prompt"],
            "shown": f"{shots}{entry['question']} {question['prompt']}\n{entry['answer']}",
            "accepted": list(dict.fromkeys(question["accepted"])),
        }


def _accepted_problems(culture: str, entry: dict) -> Iterator[str]:
    whole = []
    for number, question in enumerate(entry["questions"], 1):
        missing = [key for key in KEYS if not question.get(key)]
        if missing:
            yield f"{culture}, question {number}: has no `{'`, `'.join(missing)}`; write it"
        else:
            whole.append(question)
    for question in whole:
        if not isinstance(question["accepted"], list):
            yield f"{culture}: {question['asks']}: `accepted` is no list; write one, also of a single answer"
            continue
        for text in map(str, question["accepted"]):
            if not plain(text):
                yield (f"{culture}: {question['asks']}: “{text}” has neither letter nor digit; correct it")
            elif re.fullmatch(f"[{PARTICLES_FOLLOW}]", plain(text)):
                yield (
                    f"{culture}: {question['asks']}: “{text}” is a single letter, which occurs in many"
                    " words. Write a longer answer"
                )
    prompts = [question["prompt"] for question in whole]
    yield from (
        f"{culture}: “{prompt}” appears twice; keep one"
        for prompt in sorted(set(prompts))
        if prompts.count(prompt) > 1
    )
    asked = {example[0] for example in entry["examples"]} & set(prompts)
    yield from (
        f"{culture}: “{prompt}” is an example too, with its answer; take another example"
        for prompt in sorted(asked)
    )


def main(snakemake):
    write_jsonl(downstream_questions(list(snakemake.input), **snakemake.params.choices), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
