"""Place quartets: one question about four places, whose four answers differ, the same in every language."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.facts import FACTS
from polyreward.carb.items.filters import any_alike
from polyreward.carb.items.topics import read_topics
from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.prepare.row_files import file_rows
from polyreward.prepare.topics import CULTURE, FACT, QUARTET_KINDS, quartet_kind

FOUR = 4  # places of a quartet
LABEL = "{Place}: {answer}"  # a place and what is right there, where a language has no such frame of its own
FURTHER = 2  # quartets of a topic that only lessons have
PLACED, UNPLACED = "quartets", "unplaced_quartets"  # sets of files: prompts that name a place, and none
OWN = "own"  # the domain of quartets of the user's own


@dataclasses.dataclass(frozen=True)
class Wording:
    """A quartet in one language.

    question: with {place}. places: four phrases to put there. answers: what is right in each of them.
    label: frame of a place and its answer. book: text before the question. frame: of the answers."""

    question: str
    places: Sequence[str]
    answers: Sequence[str]
    label: str = LABEL
    book: str = ""
    frame: str = "{answer}"


@dataclasses.dataclass(frozen=True)
class Quartet:
    """Four places whose answers to one question differ.

    kind: of QUARTET_KINDS. places: names of the four, such as cultures. wordings: by language."""

    name: str
    topic: str
    domain: str
    kind: str
    places: Sequence[str]
    wordings: Mapping[str, Wording]


def scale_quartets(
    choices: Mapping, culture_file: str | Path, topics: str | Path, schema: str | Path, seed: int
) -> tuple[list[Quartet], list[Quartet]]:
    """Return a scale's quartets, those of the user's files or those that are built from the topics; and
    further ones for lessons.

    choices: of sheet.data.quartet_choices. Raises PolyrewardError that lists every problem."""
    if choices["files"]:
        return read_quartet_files(choices["files"]), []
    cultures = read_cultures(culture_file, choices["cultures"])
    shape = read_yaml(schema)
    asked = read_topics(topics, cultures, choices["domains"], shape)
    further = any(Path(choices["more_topics"]).glob(f"{CULTURE}*.yaml"))
    more = read_topics(choices["more_topics"], cultures, [CULTURE], shape) if further else []
    names = {topic["id"] for topic in asked}
    raise_all(
        (
            f"{choices['more_topics']}: topic `{topic['id']}` is also in {topics}; rename one"
            for topic in more
            if topic["id"] in names
        ),
        "place quartets",
    )
    asked += more
    asked = drawn(asked, ["domain"], choices["topics_per_domain"], seed, "carb", "topic")
    found, further = built_quartets(
        asked, cultures, choices["cultures"], choices["languages"], choices["per_topic"], seed
    )
    if not found:
        raise PolyrewardError(
            f"{topics}: no topic has four of carb.cultures with different answers, so there is no place"
            " quartet; name more cultures or domains, or carb.quartets.files"
        )
    kinds = {quartet.topic: quartet.kind for quartet in found}
    topics = [{"id": topic, "kind": kind} for topic, kind in kinds.items()]
    topics = drawn(topics, ["kind"], choices["max_topics"], seed, "carb", "quartet topic")
    kept = {topic["id"] for topic in topics}
    return tuple([quartet for quartet in those if quartet.topic in kept] for those in (found, further))


def built_quartets(
    topics: Iterable[dict],
    cultures: dict,
    asked: Sequence[str],
    languages: Sequence[str],
    per_topic: int,
    seed: int,
) -> tuple[list[Quartet], list[Quartet]]:
    """Return quartets of each topic that asks all cultures one question, drawn by hash; and further ones, for
    lessons on the first of several, which share no culture with the others.

    asked: cultures. per_topic: at most so many, which share no culture."""
    found, further = [], []
    for topic in topics:
        kind = quartet_kind(topic)
        if kind is None:
            continue
        answers = _answers(topic, cultures, asked, languages)
        options = _options(topic["id"], answers, seed)
        own = _drawn(options, len(answers), per_topic)
        others = {culture for four in own[1:] for culture in four}
        more = [four for four in options if four not in own and others.isdisjoint(four)]
        for number, four in enumerate([*own, *more[:FURTHER]], 1):
            wordings = {
                language: Wording(
                    topic["prompt"][language],
                    [cultures["cultures"][culture]["places"][language] for culture in four],
                    [answers[culture][1][language] for culture in four],
                    cultures["languages"][language]["labelled"],
                )
                for language in languages
            }
            name = f"{topic['id']}-{number}"
            quartet = Quartet(name, topic["id"], topic["domain"], kind, four, wordings)
            (found if number <= len(own) else further).append(quartet)
    return found, further


def _answers(
    topic: dict, cultures: dict, asked: Sequence[str], languages: Sequence[str]
) -> dict[str, tuple[str, dict[str, str]]]:
    """Return {culture: (its value, {language: its answer})}; a fact that is ambiguous there has none."""
    if "values" in topic:
        found = {
            culture: (value["id"], value["text"])
            for value in topic["values"]
            for culture in value["cultures"]
        }
        found = {culture: found[culture] for culture in asked if culture in found}
    else:
        found = {}
        for culture in asked:
            facts = {
                language: FACTS[topic["fact"]](culture_of(cultures, culture), language, None)
                for language in languages
            }
            if all(facts.values()):
                texts = {
                    language: topic["answer"][language].replace("{value}", fact.text)
                    for language, fact in facts.items()
                }
                found[culture] = next(iter(facts.values())).key, texts
    return {
        culture: (value, {name: _framed(texts[name], cultures, name) for name in languages})
        for culture, (value, texts) in found.items()
    }


def _framed(answer: str, cultures: dict, language: str) -> str:
    return cultures["languages"][language]["unlabelled"].replace("{answer}", answer)


def _options(topic: str, answers: Mapping[str, tuple[str, dict[str, str]]], seed: int) -> list[Sequence[str]]:
    """Return all sets of four cultures whose answers differ in all languages, in an order drawn by hash."""

    def differ(four: Sequence[str]) -> bool:
        values, texts = zip(*(answers[culture] for culture in four), strict=True)
        by_language = ([of_culture[language] for of_culture in texts] for language in texts[0])
        return len(set(values)) == FOUR and not any(map(any_alike, by_language))

    options = [four for four in combinations(answers, FOUR) if differ(four)]
    return sorted(options, key=lambda four: job_seed(seed, "carb", "place quartet", topic, *four))


def _drawn(options: Sequence[Sequence[str]], cultures: int, count: int) -> Sequence[Sequence[str]]:
    """Return up to `count` of the options, no two of which share a culture. cultures: how many there are."""
    for size in range(min(count, cultures // FOUR), 0, -1):
        for found in combinations(options, size):
            if len(set().union(*found)) == FOUR * size:
                return found
    return ()


def quartet_rows(quartet: Quartet, language: str) -> Iterator[dict]:
    """Yield a quartet's rows in a language: a prompt for each place.

    All have the same four answers, but for a place that their frame names. chosen: the number of the right
    one. `culture` is the language of the texts, as in CARB's items."""
    texts = quartet.wordings[language]
    for number, (place, phrase) in enumerate(zip(quartet.places, texts.places, strict=True)):
        prompt = texts.book + with_place(texts.question, phrase)
        answers = [framed(texts.frame, phrase, answer) for answer in texts.answers]
        row = {"place": place, "prompt": prompt, "answers": answers, "chosen": number}
        yield {"id": f"{quartet.name}_{number + 1}", **_key(quartet, language), **row}


def unplaced_row(quartet: Quartet, language: str) -> dict:
    """Return a quartet's row whose prompt names no place, so that no answer is right."""
    texts = quartet.wordings[language]
    row = {"prompt": texts.book + without_place(texts.question), "answers": list(texts.answers)}
    return {"id": quartet.name, **_key(quartet, language), "place": None, **row, "chosen": None}


def _key(quartet: Quartet, language: str) -> dict[str, str]:
    named = {"quartet": quartet.name, "topic": quartet.topic, "domain": quartet.domain}
    return {**named, "kind": quartet.kind, "culture": language}


def framed(frame: str, phrase: str, answer: str) -> str:
    """Return an answer in a frame that may name the place."""
    return frame.replace("{Place}", _capital(phrase)).replace("{place}", phrase).replace("{answer}", answer)


def with_place(question: str, phrase: str) -> str:
    """Return a question about a place, its first letter in upper case."""
    return _capital(question.replace("{place}", phrase))


def without_place(question: str) -> str:
    """Return a question that names no place, without the comma or the space that went with it."""
    text = re.sub(r"^(\W*)\{place\}[,\uff0c\u3001]?\s*", r"\1", question)
    return _capital(re.sub(r"\s*\{place\}", "", text).strip())


def _capital(text: str) -> str:
    """Return a text whose first letter, after any marks, is in upper case."""
    return re.sub(r"[^\W\d_]", lambda first: first[0].upper(), text, count=1)


def read_quartet_files(files: Mapping[str, str | Path]) -> list[Quartet]:
    """Read and check quartets of the user's own; files: {language: path}, each with the same quartets.

    Raises PolyrewardError that lists every problem with its file and place."""
    found: dict[str, dict[str, dict]] = {}
    problems = []
    for language, path in files.items():
        own = found[language] = {}
        for place, row in file_rows(path):
            if isinstance(row, str):
                problems.append(f"{place}: {row}")
                continue
            name = str(row.get("id") or row.get("topic") or "")
            faults = list(_row_faults(row))
            if name in own:
                faults.append(
                    "another quartet has this `id` (or `topic`, without an `id`); give each its own"
                )
            own.setdefault(name, row)
            problems += (f"{place}: `{name}`: {fault}" if name else f"{place}: {fault}" for fault in faults)
    names = dict.fromkeys(name for own in found.values() for name in own if name)
    for name in names:
        absent = [language for language, own in found.items() if name not in own]
        if absent:
            problems.append(f"`{name}` is not in {', '.join(absent)}; write each quartet in every language")
    if not names and not problems:
        problems.append("the files have no quartet; write some, or leave the setting out")
    raise_all(problems, "carb.quartets.files")
    first = next(iter(found.values()))
    return [_own_quartet(name, {language: own[name] for language, own in found.items()}) for name in first]


def _row_faults(row: Mapping) -> Iterator[str]:
    for key in ("topic", "question"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            yield f"has no `{key}`; write it as text"
    question = row.get("question")
    if isinstance(question, str) and question.strip() and question.count("{place}") != 1:
        yield f"`question` has {{place}} {question.count('{place}')} times; it has it once"
    if row.get("kind", FACT) not in QUARTET_KINDS:
        yield f"`kind` is `{row['kind']}`; it is one of {', '.join(QUARTET_KINDS)}"
    for key, what, missing in (("places", "place", "name"), ("answers", "answer", "text")):
        texts = row.get(key)
        if (
            not isinstance(texts, list)
            or len(texts) != FOUR
            or not all(isinstance(one, str) for one in texts)
        ):
            yield f"`{key}` is no list of {FOUR} texts; write one {what} for each place"
            continue
        blank = [str(number) for number, text in enumerate(texts, 1) if not text.strip()]
        if blank:
            yield f"{what} {', '.join(blank)} has no {missing}; write it"
        if any_alike([text for text in texts if text.strip()]):
            yield f"two of its {key} are the same text; a quartet has four different ones"


def _own_quartet(name: str, rows: Mapping[str, dict]) -> Quartet:
    first = next(iter(rows.values()))
    wordings = {
        language: Wording(row["question"], row["places"], row["answers"]) for language, row in rows.items()
    }
    kind = first.get("kind", FACT)
    return Quartet(name, first["topic"], OWN, kind, first["places"], wordings)
