"""Topics of CARB: questions that are asked of several cultures, read and checked."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path

import jsonschema

from polyreward.carb.items.cultures import missing
from polyreward.carb.items.facts import FACTS
from polyreward.carb.items.filters import ANSWERS, same_text
from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.core.yaml_files import read_yaml

# Bands of a share: below the cut, up to 50, up to 100 - cut, above. Grouping chooses one of these cuts.
CUTS = (20, 30, 40)
BANDS = ("lowest", "below-half", "above-half", "highest")
MARGIN = 3  # a share this near to a border is not asked about, since surveys err by as much
FORMS = ("", "-not")  # of a question: how many agreed, and how many did not


def read_topics(folder: str | Path, cultures: dict, domains: Sequence[str], schema: dict) -> list[dict]:
    """Read and check the topics of a folder's files <domain>[_...].yaml; return them with their `domain`.

    Raises PolyrewardError that lists every problem."""
    topics, problems = [], []
    for file in sorted(Path(folder).glob("*.yaml")):
        domain = file.stem.split("_")[0]
        if domain not in domains:
            continue
        try:
            items = read_yaml(file)
            errors = jsonschema.Draft202012Validator(schema).iter_errors(items)
            raise_all((_schema_problem(error, items) for error in errors), str(file))
        except PolyrewardError as error:
            problems.append(str(error))
            continue
        topics += ({**item, "domain": domain} for item in items)
        for topic in items:
            problems += (f"{file}: `{topic['id']}`: {text}" for text in topic_problems(topic, cultures))
    problems += _repeated("topic", topics, "all files")
    there = {topic["domain"] for topic in topics}
    problems += (
        f"domain `{domain}` has no topic; write some, or leave it out of carb.domains"
        for domain in domains
        if domain not in there
    )
    raise_all(problems, "cultural references")
    return topics


def _schema_problem(error: jsonschema.ValidationError, items) -> str:
    path = list(error.absolute_path)
    item = items[path[0]] if path and isinstance(items, list) and isinstance(items[path[0]], dict) else {}
    name = f"`{item['id']}`" if "id" in item else f"topic {path[0] + 1}" if path else "the file"
    parts = "".join(f" {part}" for part in path[1:])
    one_of = "needs values; or fact and answer; or own; or shares"
    return f"{name}{parts}: {one_of if error.validator == 'oneOf' else error.message}"


def _repeated(what: str, entries: Iterable[dict], where: str) -> Iterator[str]:
    for name, count in Counter(entry["id"] for entry in entries).items():
        if count > 1:
            yield f"{what} `{name}` appears {count} times; ids are unique within {where}"


def topic_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a topic of the right shape."""
    covers, is_holiday = list(cultures["cultures"]), topic.get("fact") == "holiday_date"
    asked_of = topic.get("own") or topic.get("shares")
    if asked_of:
        yield from unknown("culture", asked_of, covers, "the file of cultures")
        problems = _own_problems if "own" in topic else _survey_problems
        yield from problems(topic, {name: asked_of[name] for name in asked_of if name in covers}, cultures)
        return
    yield from missing("prompt", topic["prompt"], covers)
    for language, prompt in topic["prompt"].items():
        yield from _not_once(f"prompt, {language}", prompt, "{place}")
        if ("{holiday}" in prompt) != is_holiday:
            belongs = "{holiday} belongs in the prompts of the fact holiday_date, and in no other"
            yield f"prompt, {language}: {belongs}"
    if "fact" not in topic:
        yield from _value_problems(topic["values"], covers)
        return
    yield from unknown("fact", [topic["fact"]], FACTS, "polyreward/carb/items/facts.py")
    yield from missing("answer", topic["answer"], covers)
    if is_holiday and holiday_number(topic) is None:
        yield "its id must end in the holiday's number in its culture's list, such as holiday-1"
    for language, answer in topic["answer"].items():
        yield from _not_once(f"answer, {language}", answer, "{value}")


def _not_once(where: str, text: str, part: str) -> Iterator[str]:
    if text.count(part) != 1:
        yield f"{where}: {part} appears {text.count(part)} times; it appears once"


def _value_problems(values: Sequence[dict], covers: Sequence[str]) -> Iterator[str]:
    holders = Counter(culture for value in values for culture in value["cultures"])
    yield from unknown("culture", holders, covers, "the file of cultures")
    for culture in (name for name in holders if holders[name] > 1):
        yield f"culture {culture} is in {holders[culture]} values; a culture has one"
    unnamed = [culture for culture in covers if culture not in holders]
    if unnamed:
        yield f"culture {', '.join(unnamed)} is in no value; give it one"
    yield from _repeated("value", values, "a topic")
    if len(values) < ANSWERS:
        yield f"has {len(values)} values; an item needs {ANSWERS}, one right and the others wrong"
    for value in values:
        yield from missing(f"value `{value['id']}`", value["text"], covers)
    for (one, other), language in product(combinations(values, 2), covers):
        texts = [str(value["text"].get(language) or "") for value in (one, other)]
        if texts[0] and one["id"] != other["id"] and same_text(*texts):
            alike = f"values `{one['id']}` and `{other['id']}` are the same text in {language}"
            yield f"{alike}; write them apart, or make them one value"


def _own_problems(topic: dict, own: dict, cultures: dict) -> Iterator[str]:
    counts = {culture: len(entries) for culture, entries in topic["own"].items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{culture} {count}" for culture, count in counts.items())
        yield f"own: cultures have different numbers of questions ({listed}); write as many for each"
    for culture, entries in own.items():
        for number, entry in enumerate(entries, 1):
            if not str(entry["text"].get(culture) or "").strip():
                yield f"own, {culture}, question {number}: its answer is not in {culture}; write it"
        if len({entry["text"].get(culture) for entry in entries}) < len(entries):
            yield f"own, {culture}: two questions have the same answer; write another"


def _survey_problems(topic: dict, shares: dict, cultures: dict) -> Iterator[str]:
    for culture in shares:
        forms = topic["prompt"].get(culture, [])
        if len(forms) != len(FORMS) or any(form.count("{place}") != 1 for form in forms):
            needs = f"needs {len(FORMS)} forms, how many agreed and how many did not"
            yield f"prompt, {culture}: {needs}, each with {{place}} once"
        if len(cultures["languages"][culture].get("bands", [])) != len(BANDS):
            needs = f"the file of cultures has no {len(BANDS)} `bands` for its language"
            yield f"prompt, {culture}: {needs}; write them"
    if len({band(share, CUTS[0]) for share in topic["shares"].values()} - {None}) < 2:
        yield "shares: all cultures are in the same band; ask what they differ on"


def holiday_number(topic: dict) -> int | None:
    """Return which holiday of a culture's list a topic asks about: 2 for holiday-2; None otherwise."""
    found = re.search(r"-([1-9]\d*)$", topic["id"]) if topic.get("fact") == "holiday_date" else None
    return int(found[1]) if found else None


def band(share: float, cut: int) -> int | None:
    """Return which of BANDS holds a share (0 to 100); None where it is within MARGIN of a border."""
    borders = (cut, 50, 100 - cut)
    if min(abs(share - border) for border in borders) < MARGIN:
        return None
    return sum(share > border for border in borders)
