"""Rewrite the items' right answers, and put them in all languages."""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

import pandas as pd

from polyreward.carb.items.cultures import read_cultures
from polyreward.carb.items.filters import same_text
from polyreward.carb.perturbation.perturbations import BASE, PERTURBATIONS, Perturbation, changed_share
from polyreward.core.draws import drawn
from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.seeds import job_seed
from polyreward.core.tables import write_table
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run

# Why an item is left out
REASONS = {
    "no_text": "its right answer has no text in its own language",
    "no_concept": "no culture's answer is another fact, with a text in the item's language",
    "no_language": "its right answer has a text in its own language alone",
    "no_wording": "its right answer has no second wording, or one with other numbers",
    "label_stays": "the answer itself names the place, so that the label cannot be removed",
    "alike": "two of the responses are the same text",
    "no_version": "its right answer lacks a text in one of the languages",
    "no_perturbations": "it is of carb.item_files and brings no `perturbations`",
    "no_versions": "it is of carb.item_files and brings no `versions` in all languages",
}
SETS = ("carb_perturbation", "carb_consistency")  # rewrites, and versions in all languages
COUNT_COLUMNS = ["culture", "domain", "items", *REASONS, *(f"{name}_items" for name in SETS)]
References = Mapping[tuple[str, str], dict]
PLACE = re.compile(r"\{(\w)\}")  # in a rule's pattern: what the rewording keeps as it is
NUMBER = re.compile(r"\d+")
Written = dict[tuple[str, str], str]


@dataclasses.dataclass(frozen=True)
class Wordings:
    """How answers are reworded.

    rules: {language: (pattern, rewording)}, each text with the same {a}, {b} and so on; the first pattern
    that a whole answer has is its rule. reworded: {(topic, culture): the culture's own answer in other
    words}, before any rule. foreign: {(topic, culture): the same answer with another culture's concept in
    it}."""

    rules: Mapping[str, Sequence[tuple[str, str]]] = dataclasses.field(default_factory=dict)
    reworded: Written = dataclasses.field(default_factory=dict)
    foreign: Written = dataclasses.field(default_factory=dict)

    def reword(self, topic: str, culture: str, answer: str) -> str | None:
        """Return another wording of a culture's answer in its own language; None where there is none, or one
        that is none."""
        found = self.reworded.get((topic, culture)) or self._by_rule(culture, answer)
        return found if found and is_rewording(answer, found) else None

    def _by_rule(self, language: str, answer: str) -> str | None:
        for pattern, rewording in self.rules.get(language, ()):
            found = _pattern(pattern).fullmatch(answer)
            if found:
                return PLACE.sub(lambda place, of=found: of[place[1]], rewording)
        return None


def by_topic_and_culture(references: Sequence[dict]) -> References:
    """Return {(topic, culture): its row of references}."""
    return {(row["topic"], row["culture"]): row for row in references}


def framed(cultures: dict, language: str, frame: str, culture: str, answer: str) -> str:
    """Put an answer into a frame of its language, with the culture's place phrase; cultures: as read_cultures
    returns them."""
    place = cultures["cultures"][culture]["places"][language]
    text = (
        cultures["languages"][language][frame]
        .replace("{place}", place)
        .replace("{Place}", place[:1].upper() + place[1:])
    )
    return text.replace("{answer}", answer)


def perturbed_item(
    item: dict, references: References, wordings: Wordings, cultures: dict, asked: Sequence[str], seed: int
) -> dict | str:
    """Return an item's base response and its rewrites, or which of REASONS leaves it out.

    Returns id, culture, domain, topic, prompt, answers (the base's and those of PERTURBATIONS in turn),
    chosen (0), value, and what they say: for CC concept {text} and, where it is another reference's, its
    {value, culture, topic}; for RP wording; for CL language, one of those asked, drawn by hash. CC is the
    smallest edit that there is: the answer with another culture's concept in it where wordings have one, else
    the nearest text among other facts. Texts are the references', whoever wrote the item's answers."""
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
    languages = {"own": language, "another": other}
    answers = [
        framed(cultures, languages[rewrite.language], rewrite.frame, language, said)
        for rewrite, said in _said(own, concept, wording, languages)
    ]
    without_label = (
        (answer, languages[rewrite.language])
        for answer, rewrite in zip(answers[1:], PERTURBATIONS.values(), strict=True)
        if not rewrite.keeps_label
    )
    if any(
        _names(answer, cultures, language, spoken) for answer, spoken in [*without_label, (wording, language)]
    ):
        return "label_stays"
    if any(same_text(one, two) for number, one in enumerate(answers) for two in answers[:number]):
        return "alike"
    return {
        **{key: item[key] for key in ("id", "culture", "domain", "topic", "prompt")},
        "answers": answers,
        "chosen": 0,
        "value": own["value"],
        "concept": concept,
        "wording": wording,
        "language": other,
    }


def language_versions(item: dict, references: References, cultures: dict, asked: Sequence[str]) -> dict | str:
    """Return an item's right answer, labelled, in all languages asked, or which of REASONS leaves it out.

    Returns id, culture, domain, topic, prompt (in its own language whatever the answer's is), answers, chosen
    (0) and languages, of each answer: the item's own first."""
    own = references[item["topic"], item["culture"]]
    languages = sorted(asked, key=lambda name: name != item["culture"])
    if any(name not in own["texts"] for name in languages):
        return "no_version"
    answers = [framed(cultures, name, "labelled", item["culture"], own["texts"][name]) for name in languages]
    kept = {key: item[key] for key in ("id", "culture", "domain", "topic", "prompt")}
    return {**kept, "answers": answers, "chosen": 0, "languages": languages}


def perturbation_faults(row: dict, references: References, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with the rewrites of one item, in words.

    Each must say its fact in its language, and name the place or not, as PERTURBATIONS has it; all responses
    must differ."""
    name, language, concept = row["id"], row["culture"], row["concept"]
    own, languages = references[row["topic"], language], {"own": language, "another": row["language"]}
    if "value" in concept:
        other = references[concept["topic"], concept["culture"]]
        if (
            own["value"] != row["value"]
            or own["value"] == other["value"]
            or other["value"] != concept["value"]
        ):
            yield f"{name}: {other['value']} is no other fact than {own['value']}"
    if row["language"] == language:
        yield f"{name}: the other language is the item's own"
    if not is_rewording(own["texts"][language], row["wording"]):
        yield f"{name}: `{row['wording']}` is the same text, or has other numbers"
    made = zip(
        ["base", *PERTURBATIONS], _said(own, concept, row["wording"], languages), row["answers"], strict=True
    )
    for what, (rewrite, said), text in made:
        spoken = languages[rewrite.language]
        if said not in text:
            yield f"{name}: {what}: does not say `{said}`"
        if _names(text, cultures, language, spoken) != rewrite.keeps_label:
            yield f"{name}: {what}: {'does not name' if rewrite.keeps_label else 'still names'} the place"
    if len(set(row["answers"])) < len(row["answers"]):
        yield f"{name}: two of its responses are the same text"


def perturbation_sets(
    items: Sequence[dict],
    references: Sequence[dict],
    wordings: Wordings,
    cultures: dict,
    asked: Sequence[str],
    sizes: Mapping[str, int | None],
    seed: int,
) -> tuple[dict[str, list[dict]], list[dict]]:
    """Return the rewrites and the language versions of items, {SETS: rows}, and counts per culture and
    domain.

    sizes: {SETS: items of each culture and domain, drawn by hash, in the same order for both; None for all}.
    An item that has no rewrites has no versions either; counts have COUNT_COLUMNS, and one reason for each
    item. Raises PolyrewardError that lists every fault of the rewrites, and where none are left."""
    known = by_topic_and_culture(references)
    made = [
        (
            item,
            perturbed_item(item, known, wordings, cultures, asked, seed),
            language_versions(item, known, cultures, asked),
        )
        for item in items
    ]
    rewrites, versions = [], []
    counts = defaultdict(lambda: dict.fromkeys(COUNT_COLUMNS[2:], 0))
    for item, row, other in made:
        count = counts[item["culture"], item["domain"]]
        count["items"] += 1
        if isinstance(row, str):
            count[row] += 1
            continue
        rewrites.append(row)
        if isinstance(other, str):
            count[other] += 1
        else:
            versions.append(other)
    raise_all(
        (fault for row in rewrites for fault in perturbation_faults(row, known, cultures)),
        "carb.perturbation",
    )
    sets = _drawn_sets(rewrites, versions, counts, sizes, seed)
    raise_all(_empty(sets, counts), "carb")
    return sets, _count_rows(counts)


def given_sets(
    items: Sequence[dict], asked: Sequence[str], sizes: Mapping[str, int | None], seed: int
) -> tuple[dict[str, list[dict]], list[dict]]:
    """Return what items of the user's own bring, as perturbation_sets does: nothing can be rewritten without
    references.

    An item may bring perturbations ({name in PERTURBATIONS: rewrite of its chosen answer}) and versions
    ({language: its chosen answer}). A set of which no item brings anything is empty."""
    rewrites, versions = [], []
    counts = defaultdict(lambda: dict.fromkeys(COUNT_COLUMNS[2:], 0))
    for item in items:
        kept = {key: item[key] for key in ("id", "culture", "domain", "topic", "prompt")}
        count, chosen = counts[item["culture"], item["domain"]], item["answers"][item["chosen"]]
        count["items"] += 1
        if item.get("perturbations"):
            rewritten = [item["perturbations"][name] for name in PERTURBATIONS]
            rewrites.append({**kept, "answers": [chosen, *rewritten], "chosen": 0})
        else:
            count["no_perturbations"] += 1
        languages = sorted(asked, key=lambda name: name != item["culture"])
        texts = {**item.get("versions", {}), item["culture"]: chosen}
        if all(name in texts for name in languages):
            versions.append(
                {**kept, "answers": [texts[name] for name in languages], "chosen": 0, "languages": languages}
            )
        else:
            count["no_versions"] += 1
    return _drawn_sets(rewrites, versions, counts, sizes, seed), _count_rows(counts)


def all_sets(
    items: Sequence[dict],
    sources: Mapping[str, str | Sequence[str]],
    asked: Sequence[str],
    sizes: Mapping[str, int | None],
    seed: int,
) -> tuple[dict[str, list[dict]], list[dict]]:
    """Return perturbation_sets of items that were built here, or given_sets of the user's own.

    sources: files {references, cultures, wordings}, from which items that were built are rewritten; without
    them they are the user's own. paraphrases among them: a file of what generators wrote, in place of second
    wordings. Errors as in perturbation_sets, read_cultures and read_wordings."""
    if "references" not in sources:
        return given_sets(items, asked, sizes, seed)
    cultures, wordings = read_cultures(sources["cultures"], asked), read_wordings(sources["wordings"])
    if "paraphrases" in sources:
        wordings = with_paraphrases(wordings, read_jsonl(sources["paraphrases"]))
    return perturbation_sets(items, read_jsonl(sources["references"]), wordings, cultures, asked, sizes, seed)


def _drawn_sets(
    rewrites: Sequence[dict],
    versions: Sequence[dict],
    counts: dict,
    sizes: Mapping[str, int | None],
    seed: int,
) -> dict[str, list[dict]]:
    """Return {SETS: the rows drawn}, and count them."""
    sets = {
        name: drawn(
            sorted(rows, key=itemgetter("id")),
            ["culture", "domain"],
            sizes[name],
            seed,
            "carb",
            "perturbation",
        )
        for name, rows in zip(SETS, (rewrites, versions), strict=True)
    }
    for name, rows in sets.items():
        for row in rows:
            counts[row["culture"], row["domain"]][f"{name}_items"] += 1
    return sets


def _count_rows(counts: Mapping[tuple[str, str], dict]) -> list[dict]:
    return [{"culture": culture, "domain": domain, **count} for (culture, domain), count in counts.items()]


def _empty(sets: Mapping[str, Sequence[dict]], counts: Mapping[tuple[str, str], dict]) -> Iterator[str]:
    """Yield a problem for each set without a row: what left its items out."""
    for name, rows in sets.items():
        if not rows:
            totals = {reason: sum(count[reason] for count in counts.values()) for reason in REASONS}
            found = "; ".join(f"of {total}, {REASONS[reason]}" for reason, total in totals.items() if total)
            yield f"{name}: no item is left ({found}); give the references texts in more languages"


def by_set_and_culture(sets: Mapping[str, Sequence[dict]], cultures: Sequence[str]) -> Iterator[list[dict]]:
    """Yield the rows of each set and culture in turn."""
    for name in SETS:
        for culture in cultures:
            yield [row for row in sets[name] if row["culture"] == culture]


def _said(
    own: dict, concept: dict, wording: str, languages: Mapping[str, str]
) -> Iterator[tuple[Perturbation, str]]:
    """Yield the base and each of PERTURBATIONS with what it says. languages: {"own", "another"}."""
    for rewrite in (BASE, *PERTURBATIONS.values()):
        if rewrite.fact == "another":
            yield rewrite, concept["text"]
        elif rewrite.wording == "another":
            yield rewrite, wording
        else:
            yield rewrite, own["texts"][languages[rewrite.language]]


def _concept(item: dict, references: References, wordings: Wordings, seed: int) -> dict | None:
    """Return what CC says, {text} and its source {value, culture, topic}, or a written {text} alone; None
    where there is none.

    Among references it is the text that is nearest to the item's own, of another value: of other questions of
    its own culture where the item's wrong answers are lent by these, else of any culture on its topic."""
    language, own = item["culture"], references[item["topic"], item["culture"]]
    if (item["topic"], language) in wordings.foreign:
        return {"text": wordings.foreign[item["topic"], language]}
    lent = [
        reference["topic"]
        for reference in item["references"]
        if reference.get("topic", item["topic"]) != item["topic"]
    ]
    options = [references[topic, language] for topic in lent] or [
        row
        for (topic, _), row in references.items()
        if topic == item["topic"] and row["value"] not in (None, own["value"]) and language in row["texts"]
    ]
    text = own["texts"][language]
    found = [
        (
            changed_share(text, row["texts"][language]),
            job_seed(seed, "carb", "CC", item["id"], row["topic"], row["culture"]),
            row,
        )
        for row in options
        if not same_text(row["texts"][language], text)
    ]
    if not found:
        return None
    row = min(found, key=itemgetter(0, 1))[2]
    return {"text": row["texts"][language], **{key: row[key] for key in ("value", "culture", "topic")}}


def _names(text: str, cultures: dict, culture: str, language: str) -> bool:
    """Return whether a text in a language has the culture's place phrase in it."""
    return cultures["cultures"][culture]["places"][language].casefold() in text.casefold()


def with_paraphrases(wordings: Wordings, rows: Iterable[dict]) -> Wordings:
    """Return wordings whose rewordings are the rows of `paraphrased` alone; concepts stay as they were
    written."""
    return dataclasses.replace(
        wordings, rules={}, reworded={(row["topic"], row["culture"]): row["text"] for row in rows}
    )


def is_rewording(answer: str, other: str) -> bool:
    """Return whether a text may be another wording of an answer: it is not the same text, and has the same
    numbers."""
    return not same_text(answer, other) and sorted(NUMBER.findall(answer)) == sorted(NUMBER.findall(other))


def read_wordings(paths: Sequence[str | Path]) -> Wordings:
    """Read YAML files, each {rules: {language: [[pattern, rewording]]}, answers: {topic: {culture: {reworded,
    foreign}}}}.

    Both keys may be left out, and so may reworded or foreign. Raises PolyrewardError that lists every
    problem."""
    rules: dict[str, list[tuple[str, str]]] = {}
    written: dict[str, Written] = {"reworded": {}, "foreign": {}}
    problems = []
    for path in paths:
        data = read_yaml(path)
        problems += [
            f"{path}: `{key}` is unknown; use rules and answers"
            for key in sorted({*data} - {"rules", "answers"})
        ]
        for language, pairs in data.get("rules", {}).items():
            problems += [
                f"{path}: rules, {language}: {problem}" for pair in pairs for problem in _rule_problems(pair)
            ]
            rules.setdefault(language, []).extend(map(tuple, pairs))
        for topic, by_culture in data.get("answers", {}).items():
            for culture, entry in by_culture.items():
                problems += [f"{path}: {topic}, {culture}: {problem}" for problem in _entry_problems(entry)]
                for key in entry.keys() & written.keys():
                    if (topic, culture) in written[key]:
                        problems.append(
                            f"{path}: {topic}, {culture}: has its `{key}` in another file too; keep one"
                        )
                    written[key][topic, culture] = entry[key]
    raise_all(problems, "carb.perturbation.wordings")
    return Wordings(rules, written["reworded"], written["foreign"])


def _rule_problems(pair: Sequence[str]) -> Iterator[str]:
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
        yield f"{pair} is not a pair of texts, a pattern and its rewording"
    elif sorted(PLACE.findall(pair[0])) != sorted(PLACE.findall(pair[1])):
        yield f"“{pair[1]}” has not the places of “{pair[0]}”; keep each"


def _entry_problems(entry: Mapping[str, str]) -> Iterator[str]:
    yield from (
        f"`{key}` is unknown; use reworded and foreign"
        for key in sorted(entry.keys() - {"reworded", "foreign"})
    )
    yield from (f"`{key}` is empty; write it" for key, text in entry.items() if not str(text or "").strip())


def _pattern(text: str) -> re.Pattern:
    """Return a rule's pattern as a regular expression; what stands at a place is any text."""
    parts = PLACE.split(text)  # text, name, text, name, ...
    return re.compile(
        "".join(f"(?P<{part}>.+)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    )


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    items = [item for path in files.item_files for item in read_jsonl(path)]
    sets, counts = all_sets(items, dict(files.items()), params.cultures, params.sizes, params.seed)
    write_table(pd.DataFrame(counts), output.counts, COUNT_COLUMNS)
    for rows, path in zip(by_set_and_culture(sets, params.cultures), output.rows, strict=True):
        write_jsonl(rows, path)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
