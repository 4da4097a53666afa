"""Short-answer questions about cultures, whose accepted answers are facts that a package knows (Babel)."""

from collections.abc import Callable, Iterator, Sequence

from babel import Locale

from polyreward.core.errors import raise_all
from polyreward.sources.slots import localized

# What of a culture's locale, and of the question's own value, is asked: (slot type, value), as slots.localized writes it
FACTS: dict[str, Callable[[Locale, object], tuple[str, object]]] = {
    "language": lambda locale, _: ("language", locale.language),
    "country": lambda locale, _: ("country", locale.territory),
    "first_weekday": lambda locale, _: ("weekday", locale.first_week_day),
    "weekday": lambda locale, number: ("weekday", number),  # 0 is Monday
    "month": lambda locale, number: ("month", number),  # 1 is January
}


def accepted_questions(data: dict, cultures: Sequence[str], where: str) -> list[dict]:
    """Return the questions of some cultures: id, culture, prompt, shown (what a policy continues), and the accepted answers.

    data: {culture: territory, question, answer, examples, questions}, as resources/carb/questions.yaml explains.
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
    locale = Locale.parse(f"{culture}_{entry['territory']}")
    shots = "".join(f"{entry['question']} {asked}\n{entry['answer']} {answer}\n\n" for asked, answer in entry["examples"])
    for number, question in enumerate(entry["questions"], 1):
        fact = localized(*FACTS[question["fact"]](locale, question.get("value")), culture)
        yield {
            "id": f"{question['fact']}-{number}_{culture}",
            "culture": culture,
            "prompt": question["prompt"],
            "shown": f"{shots}{entry['question']} {question['prompt']}\n{entry['answer']}",
            "accepted": list(dict.fromkeys([fact, *question.get("also", [])])),
        }


def _problems(culture: str, entry: dict) -> Iterator[str]:
    for question in entry["questions"]:
        if question["fact"] not in FACTS:
            yield f"{culture}: fact `{question['fact']}` is unknown; use one of {', '.join(FACTS)}"
    prompts = [question["prompt"] for question in entry["questions"]]
    yield from (f"{culture}: “{prompt}” stands twice; keep one" for prompt in sorted(set(prompts)) if prompts.count(prompt) > 1)
    asked = {example[0] for example in entry["examples"]} & set(prompts)
    yield from (f"{culture}: “{prompt}” is an example too, with its answer; take another example" for prompt in sorted(asked))
