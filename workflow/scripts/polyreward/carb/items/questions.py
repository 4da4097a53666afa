"""Short-answer questions that every culture answers in its own way, and their accepted answers."""

import re
from collections.abc import Iterator, Sequence

from polyreward.carb.items.answers import PARTICLES_FOLLOW, plain
from polyreward.core.errors import raise_all

KEYS = ("asks", "prompt", "accepted")


def accepted_questions(data: dict, cultures: Sequence[str], where: str) -> list[dict]:
    """Return the questions of some cultures: id, culture, prompt, shown (what a policy continues), and the
    accepted answers.

    data: {culture: question, answer, examples, questions}, as resources/carb/questions.yaml explains.
    Raises PolyrewardError that names every culture without questions and every question that is amiss."""
    raise_all(
        (
            f"culture {culture} has no questions; write some, in a file that carb.questions names"
            for culture in cultures
            if culture not in data
        ),
        where,
    )
    raise_all((p for culture in cultures for p in _problems(culture, data[culture])), where)
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


def _problems(culture: str, entry: dict) -> Iterator[str]:
    whole = []
    for number, question in enumerate(entry["questions"], 1):
        absent = [key for key in KEYS if not question.get(key)]
        if absent:
            yield f"{culture}, question {number}: has no `{'`, `'.join(absent)}`; write it"
        else:
            whole.append(question)
    for question in whole:
        if not isinstance(question["accepted"], list):
            yield f"{culture}: {question['asks']}: `accepted` is no list; write one, also of a single answer"
            continue
        for text in map(str, question["accepted"]):
            if not plain(text):
                yield (
                    f"{culture}: {question['asks']}: “{text}” has neither letter nor figure; no reply can"
                    " say it"
                )
            elif re.fullmatch(f"[{PARTICLES_FOLLOW}]", plain(text)):
                yield (
                    f"{culture}: {question['asks']}: “{text}” is a single letter, which stands in many words;"
                    " write more of it"
                )
    prompts = [question["prompt"] for question in whole]
    yield from (
        f"{culture}: “{prompt}” stands twice; keep one"
        for prompt in sorted(set(prompts))
        if prompts.count(prompt) > 1
    )
    asked = {example[0] for example in entry["examples"]} & set(prompts)
    yield from (
        f"{culture}: “{prompt}” is an example too, with its answer; take another example"
        for prompt in sorted(asked)
    )
