"""Right answers in other words, and with another culture's concept in them: by rule, or as people wrote
them."""

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from polyreward.carb.items.filters import same_text
from polyreward.core.errors import raise_all
from polyreward.core.yaml_files import read_yaml

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

    def of(self, topic: str, culture: str, answer: str) -> str | None:
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


def is_rewording(answer: str, other: str) -> bool:
    """Return whether a text may be another wording of an answer: it is not the same text, and has the same
    numbers."""
    return not same_text(answer, other) and sorted(NUMBER.findall(answer)) == sorted(NUMBER.findall(other))


def changed_share(one: str, other: str) -> float:
    """Return the share of two texts' characters, 0 to 1, that the other does not have, in order (1 -
    difflib's ratio)."""
    return 1 - difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


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
