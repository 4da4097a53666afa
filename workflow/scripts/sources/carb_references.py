"""Read and check the cultural references."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

import jsonschema

from polyreward.carb.items.cultures import culture_of, missing, read_cultures
from polyreward.carb.items.facts import FACTS, where_to_check
from polyreward.carb.items.filters import ANSWERS
from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run


def read_topics(folder: str | Path, cultures: dict, domains: Sequence[str], schema: dict) -> list[dict]:
    """Read and check the topics of a folder's YAML files in some domains; return them with their `domain`.

    A file's name up to the first underscore is its domain. Raises PolyrewardError that lists every problem.
    """
    files = [file for file in sorted(Path(folder).glob("*.yaml")) if _domain(file) in domains]
    topics, problems = [], []
    for file in files:
        try:
            found = _yaml_topics(file, schema)
        except PolyrewardError as error:
            problems.append(str(error))
            continue
        topics += found
        for topic in found:
            problems += [f"{file}: `{topic['id']}`: {text}" for text in topic_problems(topic, cultures)]
    counts = Counter(topic["id"] for topic in topics)
    problems += [
        f"topic `{name}` appears {count} times; ids are unique over all files"
        for name, count in counts.items()
        if count > 1
    ]
    there = {topic["domain"] for topic in topics}
    problems += [
        f"domain `{domain}` has no topic; write some, or leave it out of carb.domains"
        for domain in domains
        if domain not in there
    ]
    raise_all(problems, "cultural references")
    return topics


def topic_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a topic of the right shape."""
    covers = list(cultures["cultures"])
    if "own" in topic or "shares" in topic:
        yield from own_problems(topic, cultures) if "own" in topic else survey_problems(topic, cultures)
        return
    yield from missing("prompt", topic["prompt"], covers)
    for language, prompt in topic["prompt"].items():
        if prompt.count("{place}") != 1:
            yield f"prompt, {language}: {{place}} appears {prompt.count('{place}')} times; it appears once"
        if ("{holiday}" in prompt) != (topic.get("fact") == "holiday_date"):
            belongs = "{holiday} belongs in the prompts of the fact holiday_date, and in no other"
            yield f"prompt, {language}: {belongs}"
    if "fact" in topic:
        yield from _fact_problems(topic, covers)
    else:
        yield from _value_problems(topic["values"], covers, cultures)


def holiday_number(topic: dict) -> int | None:
    """Return which holiday of a culture's list a topic asks about: 2 for holiday-2; None otherwise."""
    found = re.search(r"-([1-9]\d*)$", topic["id"]) if topic.get("fact") == "holiday_date" else None
    return int(found[1]) if found else None


def _fact_problems(topic: dict, covers: Sequence[str]) -> Iterator[str]:
    yield from unknown("fact", [topic["fact"]], FACTS, "polyreward/carb/items/facts.py")
    yield from missing("answer", topic["answer"], covers)
    if topic["fact"] == "holiday_date" and holiday_number(topic) is None:
        yield "its id must end in the holiday's number in its culture's list, such as holiday-1"
    for language, answer in topic["answer"].items():
        if answer.count("{value}") != 1:
            yield f"answer, {language}: {{value}} appears {answer.count('{value}')} times; it appears once"


def _value_problems(values: Sequence[dict], covers: Sequence[str], cultures: dict) -> Iterator[str]:
    holders = Counter(culture for value in values for culture in value["cultures"])
    yield from unknown("culture", holders, cultures["cultures"], "the file of cultures")
    for culture, count in holders.items():
        if count > 1:
            yield f"culture {culture} is in {count} values; a culture has one"
    unnamed = [culture for culture in covers if culture not in holders]
    if unnamed:
        yield f"culture {', '.join(unnamed)} is in no value; give it one"
    for name, count in Counter(value["id"] for value in values).items():
        if count > 1:
            yield f"value `{name}` appears {count} times; ids are unique within a topic"
    if len(values) < ANSWERS:
        yield f"has {len(values)} values; an item needs {ANSWERS}, one right and the others wrong"
    for value in values:
        yield from missing(f"value `{value['id']}`", value["text"], covers)


def _yaml_topics(file: Path, schema: dict) -> list[dict]:
    items = read_yaml(file)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(items)
    raise_all((_schema_problem(error, items) for error in errors), str(file))
    return [{**item, "domain": _domain(file)} for item in items]


def _domain(file: Path) -> str:
    return file.stem.split("_")[0]


def _schema_problem(error: jsonschema.ValidationError, items) -> str:
    path = list(error.absolute_path)
    item = items[path[0]] if path and isinstance(items, list) and isinstance(items[path[0]], dict) else {}
    name = f"`{item['id']}`" if "id" in item else f"topic {path[0] + 1}" if path else "the file"
    parts = "".join(f" {part}" for part in path[1:])
    one_of = "needs values; or fact and answer; or own; or shares"
    return f"{name}{parts}: {one_of if error.validator == 'oneOf' else error.message}"


def own_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a topic whose cultures each have their own questions."""
    counts = {culture: len(entries) for culture, entries in topic["own"].items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{culture} {count}" for culture, count in counts.items())
        yield f"own: cultures have different numbers of questions ({listed}); write as many for each"
    for culture, entries in topic["own"].items():
        if culture not in cultures["cultures"]:
            yield f"own: culture {culture} is not in the file of cultures; write one that is there"
        for number, entry in enumerate(entries, 1):
            if culture not in entry["text"]:
                place = f"own, {culture}, question {number}"
                yield f"{place}: its answer has no text in its own language; write it"
        answers = [entry["text"].get(culture) for entry in entries]
        if len(set(answers)) < len(answers):
            yield f"own, {culture}: two questions have the same answer; write another"


# Bands of a share: below the cut, up to 50, up to 100 - cut, above. Grouping chooses one of these cuts.
CUTS = (20, 30, 40)
BANDS = ("lowest", "below-half", "above-half", "highest")
MARGIN = 3  # a share this near to a border is not asked about, since surveys err by as much
FORMS = ("", "-not")  # of a question: how many agreed, and how many did not


def band(share: float, cut: int) -> int | None:
    """Return which of BANDS holds a share (0 to 100); None where it is within MARGIN of a border."""
    borders = (cut, 50, 100 - cut)
    if min(abs(share - border) for border in borders) < MARGIN:
        return None
    return sum(share > border for border in borders)


def survey_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a survey's question."""
    for culture, share in topic["shares"].items():
        if culture not in cultures["cultures"]:
            yield f"shares: culture {culture} is not in the file of cultures; write one that is there"
            continue
        if not 0 <= share <= 100:
            yield f"shares: {culture} has {share}; a share is between 0 and 100"
        forms = topic["prompt"].get(culture, [])
        if len(forms) != len(FORMS) or any(form.count("{place}") != 1 for form in forms):
            needs = f"needs {len(FORMS)} forms, how many agreed and how many did not"
            yield f"prompt, {culture}: {needs}, each with {{place}} once"
        if len(cultures["languages"].get(culture, {}).get("bands", [])) != len(BANDS):
            needs = f"the file of cultures has no {len(BANDS)} `bands` for its language"
            yield f"prompt, {culture}: {needs}; write them"
    if len({band(share, CUTS[0]) for share in topic["shares"].values()} - {None}) < 2:
        yield "shares: all cultures are in the same band; ask what they differ on"


def reference_rows(topics: Iterable[dict], cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield one row per topic and asked culture.

    A row has topic, domain, source, culture, prompt, is_fact, value, check and texts.

    Cultures with the same value share it; a fact that is ambiguous for a culture has None. `texts` holds
    {language: answer}. Rows of topics with `own` or `shares` also have family and scale, for
    selection.quartets."""
    for topic in topics:
        if "own" in topic:
            yield from own_rows(topic, asked)
        elif "shares" in topic:
            yield from survey_rows(topic, cultures, asked)
        else:
            answers = _fact_answers(topic, cultures, asked) if "fact" in topic else _written_answers(topic)
            for culture in asked:
                if culture in answers:
                    prompt = _prompt(topic, cultures, culture)
                    yield {**_row(topic, topic["id"], culture, prompt, "fact" in topic), **answers[culture]}


def _row(topic: dict, name: str, culture: str, prompt: str, is_fact: bool = True) -> dict:
    key = {"topic": name, "domain": topic["domain"], "source": topic["source"]}
    return {**key, "culture": culture, "prompt": prompt, "is_fact": is_fact}


def _written_answers(topic: dict) -> dict[str, dict]:
    return {
        culture: {"value": value["id"], "check": value["check"], "texts": value["text"]}
        for value in topic["values"]
        for culture in value["cultures"]
    }


def _fact_answers(topic: dict, cultures: dict, asked: Sequence[str]) -> dict[str, dict]:
    fact, number = FACTS[topic["fact"]], holiday_number(topic)
    answers = {}
    for name in asked:
        culture = culture_of(cultures, name)
        found = {language: fact(culture, language, *([number] if number else [])) for language in asked}
        answers[name] = {
            "value": found[name] and found[name].key,
            "check": where_to_check(topic["fact"]),
            "texts": {
                language: topic["answer"][language].replace("{value}", value.text)
                for language, value in found.items()
                if value
            },
        }
    return answers


def _prompt(topic: dict, cultures: dict, culture: str) -> str:
    entry = cultures["cultures"][culture]
    prompt = topic["prompt"][culture].replace("{place}", entry["places"][culture])
    number, holidays = holiday_number(topic), culture_of(cultures, culture).holidays
    return prompt.replace("{holiday}", holidays[number - 1]) if number and number <= len(holidays) else prompt


def own_rows(topic: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield the rows of a topic with `own`, {culture: [{prompt, text: {language: answer}, check}]}."""
    for culture in asked:
        entries = topic["own"].get(culture, [])
        for number, entry in enumerate(entries, 1):
            name = topic["id"] if len(entries) == 1 else f"{topic['id']}-{number}"
            yield {
                **_row(topic, name, culture, entry["prompt"]),
                "family": topic["id"],
                "scale": "",
                "value": name,
                "check": entry["check"],
                "texts": {language: text for language, text in entry["text"].items() if language in asked},
            }


def survey_rows(topic: dict, cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield the rows of a survey's question for each culture, cut and form of the question.

    The second form's share is the rest of the hundred, so its band mirrors the first's. topic: with `prompt`,
    two forms per language, and `shares`, {culture: percentage that agreed}."""
    for culture, cut in product(asked, CUTS):
        share = topic["shares"].get(culture)
        place = None if share is None else band(share, cut)
        if place is not None:
            where = cultures["cultures"][culture]["places"][culture]
            for form, prompt in zip(FORMS, topic["prompt"][culture], strict=True):
                number = len(BANDS) - 1 - place if form else place
                prompt = prompt.replace("{place}", where)
                yield {
                    **_row(topic, f"{topic['id']}-{cut}{form}", culture, prompt),
                    "family": topic["id"],
                    "scale": str(cut),
                    "value": BANDS[number],
                    "check": f"{topic['check']}: {share} of 100",
                    "texts": band_texts(cultures, asked, number, cut),
                }


def band_texts(cultures: dict, asked: Sequence[str], number: int, cut: int) -> dict[str, str]:
    """Return {language: a band in words}."""
    bands = {language: cultures["languages"][language]["bands"][number] for language in asked}
    return {language: text.format(low=cut, high=100 - cut) for language, text in bands.items()}


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    cultures = read_cultures(files.cultures, params.cultures)
    topics = read_topics(params.folder, cultures, params.domains, read_yaml(files.schema))
    topics = drawn(topics, ["domain"], params.topics_per_domain, params.seed, "carb", "topic")
    write_jsonl(reference_rows(topics, cultures, params.cultures), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
