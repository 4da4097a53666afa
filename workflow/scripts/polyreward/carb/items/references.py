"""Cultural references: what is true of which culture, as people write it in YAML or in tables, read and
checked."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import jsonschema

from polyreward.carb.items.cultures import missing
from polyreward.carb.items.facts import FACTS
from polyreward.carb.items.own_topics import own_problems
from polyreward.carb.items.surveys import survey_problems
from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.core.yaml_files import read_yaml

ANSWERS = 4  # of an item: one chosen, three rejected
COLUMNS = ["culture", "domain", "topic", "prompt", "value", "text", "language", "source", "check"]


def read_topics(
    folder: str | Path | None,
    tables: Iterable[str | Path],
    cultures: dict,
    domains: Sequence[str],
    schema: dict,
) -> list[dict]:
    """Read and check all topics: the YAML files of a folder, and tables of the user's own.

    A YAML file's name up to the first underscore is its topics' domain; other domains' files are left alone.
    cultures: as read_cultures returns them. Returns topics with their `domain`. Raises PolyrewardError that
    lists every problem."""
    files = (
        [file for file in sorted(Path(folder).glob("*.yaml")) if _domain(file) in domains] if folder else []
    )
    topics, problems = [], []
    for read, file in [
        *((_yaml_topics, file) for file in files),
        *((_table_topics, file) for file in tables),
    ]:
        try:
            found = read(file, schema)
        except PolyrewardError as error:
            problems.append(str(error))
            continue
        topics += found
        for topic in found:
            covers = list(cultures["cultures"]) if read is _yaml_topics else _holders(topic)
            problems += [
                f"{file}: `{topic['id']}`: {text}"
                for text in topic_problems(topic, covers, cultures, domains)
            ]
    problems += [
        f"topic `{name}` stands {count} times; ids are unique over all files"
        for name, count in Counter(topic["id"] for topic in topics).items()
        if count > 1
    ]
    problems += [
        f"domain `{domain}` has no topic; write some, or leave it out of carb.domains"
        for domain in domains
        if domain not in {topic["domain"] for topic in topics}
    ]
    raise_all(problems, "cultural references")
    return topics


def topic_problems(
    topic: dict, covers: Sequence[str], cultures: dict, domains: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with a topic of the right shape, in words; covers: the cultures that it must
    have."""
    yield from unknown("domain", [topic["domain"]], domains, "carb.domains")
    if "own" in topic or "shares" in topic:
        yield from own_problems(topic, cultures) if "own" in topic else survey_problems(topic, cultures)
        return
    yield from missing("prompt", topic["prompt"], covers)
    for language, prompt in topic["prompt"].items():
        if prompt.count("{place}") != 1:
            yield f"prompt, {language}: {{place}} stands {prompt.count('{place}')} times; it stands once"
        if ("{holiday}" in prompt) != (topic.get("fact") == "holiday_date"):
            yield (
                f"prompt, {language}: {{holiday}} belongs in the prompts of the fact holiday_date, and in no"
                " other"
            )
    yield from (
        _fact_problems(topic, covers)
        if "fact" in topic
        else _value_problems(topic["values"], covers, cultures)
    )


def holiday_number(topic: dict) -> int | None:
    """Return which holiday of each culture's list a topic asks about, by its id: 2 for holiday-2; None for
    any other topic."""
    found = re.search(r"-([1-9]\d*)$", topic["id"]) if topic.get("fact") == "holiday_date" else None
    return int(found[1]) if found else None


def _fact_problems(topic: dict, covers: Sequence[str]) -> Iterator[str]:
    yield from unknown("fact", [topic["fact"]], FACTS, "polyreward/carb/items/facts.py")
    yield from missing("answer", topic["answer"], covers)
    if topic["fact"] == "holiday_date" and holiday_number(topic) is None:
        yield "its id must end in the holiday's number in its culture's list, such as holiday-1"
    for language, answer in topic["answer"].items():
        if answer.count("{value}") != 1:
            yield f"answer, {language}: {{value}} stands {answer.count('{value}')} times; it stands once"


def _value_problems(values: Sequence[dict], covers: Sequence[str], cultures: dict) -> Iterator[str]:
    holders = Counter(culture for value in values for culture in value["cultures"])
    yield from unknown("culture", holders, cultures["cultures"], "the file of cultures")
    for culture, count in holders.items():
        if count > 1:
            yield f"culture {culture} is in {count} values; a culture has one"
    absent = [culture for culture in covers if culture not in holders]
    if absent:
        yield f"culture {', '.join(absent)} is in no value; give it one"
    for name, count in Counter(value["id"] for value in values).items():
        if count > 1:
            yield f"value `{name}` stands {count} times; ids are unique within a topic"
    if len(values) < ANSWERS:
        yield f"has {len(values)} values; an item needs {ANSWERS}, one right and the others wrong"
    for value in values:
        yield from missing(f"value `{value['id']}`", value["text"], covers)


def _yaml_topics(file: Path, schema: dict) -> list[dict]:
    items = read_yaml(file)
    raise_all(
        (
            _schema_problem(error, items)
            for error in jsonschema.Draft202012Validator(schema).iter_errors(items)
        ),
        str(file),
    )
    return [{**item, "domain": _domain(file)} for item in items]


def _domain(file: Path) -> str:
    return file.stem.split("_")[0]


def _schema_problem(error: jsonschema.ValidationError, items) -> str:
    path = list(error.absolute_path)
    item = items[path[0]] if path and isinstance(items, list) and isinstance(items[path[0]], dict) else {}
    name = f"`{item['id']}`" if "id" in item else f"topic {path[0] + 1}" if path else "the file"
    what = (
        "needs values; or fact and answer; or own; or shares" if error.validator == "oneOf" else error.message
    )
    return f"{name}{''.join(f' {part}' for part in path[1:])}: {what}"


def _table_topics(file: str | Path, schema: dict) -> list[dict]:
    """Read a CSV file in which a row is one culture's reference in one language (docs/culture.md has its
    columns)."""
    topics: dict[str, dict] = {}
    values: dict[tuple[str, str], dict] = {}
    problems = []
    for number, row in _numbered_rows(file):
        empty = [column for column in COLUMNS if column != "prompt" and not row[column].strip()]
        if empty:
            problems.append(f"row {number}: `{'`, `'.join(empty)}` is empty; fill it or drop the row")
            continue
        new = {
            "id": row["topic"],
            "domain": row["domain"],
            "source": row["source"],
            "prompt": {},
            "values": [],
        }
        topic = topics.setdefault(row["topic"], new)
        if row["domain"] != topic["domain"]:
            problems.append(
                f"row {number}: topic `{row['topic']}` is in {topic['domain']} further up, here in"
                f" {row['domain']}"
            )
        key = row["topic"], row["value"]
        if key not in values:
            values[key] = {"id": row["value"], "cultures": [], "check": row["check"], "text": {}}
            topic["values"].append(values[key])
        value = values[key]
        if row["culture"] not in value["cultures"]:
            value["cultures"].append(row["culture"])
        if row["language"] == row["culture"]:
            topic["prompt"][row["culture"]] = row["prompt"]
        if value["text"].setdefault(row["language"], row["text"]) != row["text"]:
            problems.append(
                f"row {number}: value `{row['value']}` has another text in {row['language']} further up;"
                " keep one"
            )
    raise_all(problems, str(file))
    return list(topics.values())


def _numbered_rows(file: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with their numbers as a spreadsheet shows them."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, restval="", restkey="more")
            absent = [column for column in COLUMNS if column not in (rows.fieldnames or [])]
            if absent:
                listed = ", ".join(COLUMNS)
                raise PolyrewardError(
                    f"{file}: has no column `{'`, `'.join(absent)}`; add them: the columns of a reference"
                    f" file are {listed}"
                )
            yield from enumerate(rows, 2)
    except FileNotFoundError:
        raise PolyrewardError(f"{file}: no such file; correct the path in carb.reference_files") from None
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{file}: not UTF-8 (byte {error.start}); save it as CSV in UTF-8") from None


def _holders(topic: dict) -> list[str]:
    return list(dict.fromkeys(culture for value in topic["values"] for culture in value["cultures"]))
