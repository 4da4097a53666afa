"""Rewrite the items' right answers, and put them in all languages."""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

import pandas as pd

from polyreward.carb.items.cultures import read_cultures
from polyreward.carb.items.filters import any_alike, same_text
from polyreward.carb.perturbation.perturbations import BASE, PERTURBATIONS, changed_share
from polyreward.core.draws import drawn
from polyreward.core.errors import raise_all, unknown
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.seeds import job_seed
from polyreward.core.tables import write_table
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run

# Why an item is left out
REASONS = {
    "no_text": "its right answer has no text in its own language",
    "no_concept": "no culture's answer is another fact, with a text in the item's language",
    "no_language": "its right answer has a text only in its own language",
    "no_wording": "its right answer has no second wording, or one with other numbers",
    "label_stays": "the answer itself names the place, so that the label cannot be removed",
    "alike": "two of the responses are the same text",
    "no_version": "its right answer lacks a text in one of the languages",
}
SETS = ("carb_perturbation", "carb_consistency")  # rewrites, and versions in all languages
COUNT_COLUMNS = ["culture", "domain", "items", *REASONS, *(f"{name}_items" for name in SETS)]
References = Mapping[tuple[str, str], dict]  # by topic and culture
PLACE = re.compile(r"\{(\w)\}")  # in a rule's pattern: what the rewording keeps as it is
NUMBER = re.compile(r"\d+")
Written = dict[tuple[str, str], str]


@dataclasses.dataclass(frozen=True)
class Wordings:
    """How answers are reworded.

    rules: {language: (pattern, rewording)}, each with the same places {a}, {b}; the first that fits a whole
    answer. reworded: {(topic, culture): its own answer in other words}; comes before any rule. foreign:
    {(topic, culture): the same answer with another culture's concept in it}."""

    rules: Mapping[str, Sequence[tuple[str, str]]] = dataclasses.field(default_factory=dict)
    reworded: Written = dataclasses.field(default_factory=dict)
    foreign: Written = dataclasses.field(default_factory=dict)

    def reword(self, topic: str, culture: str, answer: str) -> str | None:
        """Return another wording of a culture's answer, or None."""
        found = self.reworded.get((topic, culture))
        for pattern, rewording in self.rules.get(culture, ()) if not found else ():
            parts = enumerate(PLACE.split(pattern))  # text, name, text, name, ...
            regex = "".join(f"(?P<{part}>.+)" if n % 2 else re.escape(part) for n, part in parts)
            match = re.fullmatch(regex, answer)
            if match:
                found = PLACE.sub(lambda place, match=match: match[place[1]], rewording)
                break
        return found if found and is_rewording(answer, found) else None


def is_rewording(answer: str, other: str) -> bool:
    """Return whether a text differs from an answer and has the same numbers."""
    return not same_text(answer, other) and sorted(NUMBER.findall(answer)) == sorted(NUMBER.findall(other))


def with_paraphrases(wordings: Wordings, rows: Iterable[dict]) -> Wordings:
    """Return wordings whose only rewordings are the rows of `paraphrased`; concepts stay as they are."""
    reworded = {(row["topic"], row["culture"]): row["text"] for row in rows}
    return dataclasses.replace(wordings, rules={}, reworded=reworded)


def read_wordings(paths: Sequence[str | Path]) -> Wordings:
    """Read YAML: rules: {language: [[pattern, rewording]]}; answers: {topic: {culture: {reworded, foreign}}}.

    Raises PolyrewardError that lists every problem."""
    rules: dict[str, list[tuple[str, str]]] = defaultdict(list)
    written: dict[str, Written] = {"reworded": {}, "foreign": {}}
    problems = []
    for path in paths:
        data = read_yaml(path)
        found = [*unknown("key", data, ["answers", "rules"], "a file")]
        for language, pairs in data.get("rules", {}).items():
            found += (f"rules, {language}: {text}" for pair in pairs for text in _rule_problems(pair))
            rules[language] += map(tuple, pairs)
        for topic, by_culture in data.get("answers", {}).items():
            for culture, entry in by_culture.items():
                where = f"{topic}, {culture}:"
                found += unknown(f"{where} key", entry, written, "an answer")
                for key in (name for name in written if name in entry):
                    if not str(entry[key] or "").strip():
                        found.append(f"{where} `{key}` is empty; write it")
                    if (topic, culture) in written[key]:
                        found.append(f"{where} has its `{key}` in another file too; keep one")
                    written[key][topic, culture] = entry[key]
        problems += (f"{path}: {text}" for text in found)
    raise_all(problems, "carb.perturbation.wordings")
    return Wordings(dict(rules), **written)


def _rule_problems(pair: Sequence[str]) -> Iterator[str]:
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
        yield f"{pair} is not a pair of texts, a pattern and its rewording"
    elif sorted(PLACE.findall(pair[0])) != sorted(PLACE.findall(pair[1])):
        yield f"“{pair[1]}” has not the places of “{pair[0]}”; keep each"


def framed(cultures: dict, language: str, frame: str, culture: str, answer: str) -> str:
    """Put an answer into a frame of its language, with the culture's place phrase."""
    place = cultures["cultures"][culture]["places"][language]
    text = cultures["languages"][language][frame].replace("{place}", place)
    return text.replace("{Place}", place[:1].upper() + place[1:]).replace("{answer}", answer)


def perturbed_item(
    item: dict, references: References, wordings: Wordings, cultures: dict, asked: Sequence[str], seed: int
) -> dict | str:
    """Return an item's base response and its rewrites, or which of REASONS leaves it out.

    answers: the base's and those of PERTURBATIONS in turn. concept: what CC says, {text}, and its {value,
    culture, topic} where it is another reference's. wording: RP's. language: CL's, drawn by hash."""
    language, own = item["culture"], references[item["topic"], item["culture"]]
    if language not in own["texts"]:
        return "no_text"
    concept = _concept(item, references, wordings, seed)
    if concept is None:
        return "no_concept"
    others = [name for name in asked if name != language and name in own["texts"]]
    if not others:
        return "no_language"
    wording = wordings.reword(item["topic"], language, own["texts"][language])
    if wording is None:
        return "no_wording"
    other = min(others, key=lambda name: job_seed(seed, "carb", "CL", item["id"], name))
    answers, without_label = [], [(wording, language)]
    for rewrite in (BASE, *PERTURBATIONS.values()):
        spoken = language if rewrite.language == "own" else other
        text = own["texts"][spoken]
        if rewrite.fact == "another":
            text = concept["text"]
        elif rewrite.wording == "another":
            text = wording
        answers.append(framed(cultures, spoken, rewrite.frame, language, text))
        if rewrite.frame == "unlabelled":
            without_label.append((answers[-1], spoken))
    places = cultures["cultures"][language]["places"]
    if any(places[spoken].casefold() in text.casefold() for text, spoken in without_label):
        return "label_stays"
    if any_alike(answers):
        return "alike"
    more = {"value": own["value"], "concept": concept, "wording": wording, "language": other}
    return {**_row(item, answers), **more}


def _row(item: dict, answers: list[str]) -> dict:
    kept = {key: item[key] for key in ("id", "culture", "domain", "topic", "prompt")}
    return {**kept, "answers": answers, "chosen": 0}


def _concept(item: dict, references: References, wordings: Wordings, seed: int) -> dict | None:
    """Return the concept that people wrote, or the nearest reference's: of the questions that lend the item
    its wrong answers, or else any culture's on its topic that states another fact."""
    language, own = item["culture"], references[item["topic"], item["culture"]]
    if (item["topic"], language) in wordings.foreign:
        return {"text": wordings.foreign[item["topic"], language]}
    lent = [row["topic"] for row in item["references"] if row.get("topic", item["topic"]) != item["topic"]]
    options = [references[topic, language] for topic in lent] or [
        row
        for (topic, _), row in references.items()
        if topic == item["topic"] and row["value"] not in (None, own["value"]) and language in row["texts"]
    ]
    text = own["texts"][language]

    def distance(row: dict) -> tuple[float, int]:
        draw = job_seed(seed, "carb", "CC", item["id"], row["topic"], row["culture"])
        return changed_share(text, row["texts"][language]), draw

    others = [row for row in options if not same_text(row["texts"][language], text)]
    row = min(others, key=distance, default=None)
    kept = ("value", "culture", "topic")
    return row and {"text": row["texts"][language], **{name: row[name] for name in kept}}


def language_versions(item: dict, references: References, cultures: dict, asked: Sequence[str]) -> dict | str:
    """Return an item's right answer, labelled, in all languages asked, its own first, or a reason."""
    texts = references[item["topic"], item["culture"]]["texts"]
    languages = sorted(asked, key=lambda name: name != item["culture"])
    if any(name not in texts for name in languages):
        return "no_version"
    answers = [framed(cultures, name, "labelled", item["culture"], texts[name]) for name in languages]
    return {**_row(item, answers), "languages": languages}


def perturbation_sets(
    items: Sequence[dict],
    references: Iterable[dict],
    wordings: Wordings,
    cultures: dict,
    asked: Sequence[str],
    sizes: Mapping[str, int | None],
    seed: int,
) -> tuple[dict[str, list[dict]], list[dict]]:
    """Return the rewrites and language versions of items, {SETS: rows}, and counts per culture and domain.

    An item without rewrites has no versions either. sizes: {SETS: items of each cell, drawn by hash; None for
    all}. Raises PolyrewardError on a set without items."""
    known = {(row["topic"], row["culture"]): row for row in references}
    made = {name: [] for name in SETS}
    counts = defaultdict(lambda: dict.fromkeys(COUNT_COLUMNS[2:], 0))
    for item in items:
        count = counts[item["culture"], item["domain"]]
        count["items"] += 1
        found = perturbed_item(item, known, wordings, cultures, asked, seed)
        if isinstance(found, dict):
            made[SETS[0]].append(found)
            found = language_versions(item, known, cultures, asked)
        if isinstance(found, dict):
            made[SETS[1]].append(found)
        else:
            count[found] += 1
    totals = {reason: sum(count[reason] for count in counts.values()) for reason in REASONS}
    said = "; ".join(f"of {total}, {REASONS[reason]}" for reason, total in totals.items() if total)
    advice = "give the references texts in more languages"
    empty = (name for name, rows in made.items() if not rows)
    raise_all((f"{name}: no item is left ({said}); {advice}" for name in empty), "carb")
    sets = {}
    for name, rows in made.items():
        rows.sort(key=itemgetter("id"))
        sets[name] = drawn(rows, ["culture", "domain"], sizes[name], seed, "carb", "perturbation")
        for row in sets[name]:
            counts[row["culture"], row["domain"]][f"{name}_items"] += 1
    return sets, [{"culture": cell[0], "domain": cell[1], **count} for cell, count in counts.items()]


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    items, asked = read_jsonl(files.item_files), params.cultures
    if files.references:
        cultures, wordings = read_cultures(files.cultures, asked), read_wordings(files.wordings)
        if files.paraphrases:
            wordings = with_paraphrases(wordings, read_jsonl(files.paraphrases))
        known, how = read_jsonl(files.references), (params.sizes, params.seed)
        sets, counts = perturbation_sets(items, known, wordings, cultures, asked, *how)
        counts = pd.DataFrame(counts)
    else:  # items are the user's own, and not rewritten
        sets = {name: [] for name in SETS}
        cells = pd.DataFrame(items).groupby(["culture", "domain"], sort=False).size()
        counts = cells.reset_index(name="items").reindex(columns=COUNT_COLUMNS, fill_value=0)
    write_table(counts, output.counts, COUNT_COLUMNS)
    for path in map(Path, output.rows):
        write_jsonl((row for row in sets[path.parent.name] if row["culture"] == path.stem), path)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
