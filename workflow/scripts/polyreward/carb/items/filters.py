"""Which possible answers go: those that repeat another, in a foreign script, too near or too far."""

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pandas as pd

from polyreward.core.writing import script_share

ANSWERS = 4  # of an item: one chosen, three rejected
COUNT_COLUMNS = [
    *("culture", "domain"),
    *("topics", "topics_ambiguous", "topics_foreign", "topics_repeated", "topics_short", "items"),
    *("references", "references_shared"),
    *("answers", "answers_duplicate", "answers_foreign", "answers_near", "answers_far", "answers_left"),
]


# Limits to a wrong answer, from tries with our own topics; the paper names none.
NEAR_DUPLICATE = 0.98  # likeness to another answer (difflib), from which on one of the two goes
SCRIPT_SHARE = 0.9  # least share of its letters in the language's script
# Cosine similarity to the right answer, of vectors minus their language's mean
NEAREST = 0.98  # above it, an answer may be right, too
FARTHEST = -0.3  # below it, its subject gives it away


def kept_items(
    items: Sequence[dict],
    references: Sequence[dict],
    similarities: pd.DataFrame,
    scripts: Mapping[str, str],
) -> tuple[list[dict], list[dict]]:
    """Filter possible items' answers; return (items with three or more wrong ones, COUNT_COLUMNS by cell).

    A cell is a culture and domain. similarities: id, value and the cosine similarity of that answer to the
    chosen one. references_shared: other cultures' references that are right for this one too; answers:
    distinct ones among the rest. Items with a `family` get their wrong answers later: only they themselves
    are checked."""
    counts: dict[tuple[str, str], Counter] = defaultdict(Counter)
    once_a_family = {
        (row["culture"], row.get("family", row["topic"]), "family" in row): row for row in references
    }
    for row in once_a_family.values():
        counts[row["culture"], row["domain"]].update(topics=1, topics_ambiguous=row["value"] is None)
    near = similarities.set_index(["id", "value"])["similarity"].to_dict()
    kept, seen = [], defaultdict(list)
    for item in items:
        count, script = counts[item["culture"], item["domain"]], scripts[item["culture"]]
        right, shared = [item["prompt"], item["chosen"]["text"]], len(item["shared"])
        mismatched = sum(len(answer["cultures"]) for answer in item["answers"])
        count.update(references=shared + mismatched, references_shared=shared, answers=len(item["answers"]))
        if any(foreign(text, script) for text in right):
            count["topics_foreign"] += 1
            continue
        earlier = seen[item["culture"]]
        if any(all(map(same_text, right, other)) for other in earlier):
            count["topics_repeated"] += 1
            continue
        earlier.append(right)
        if "family" not in item:
            left = []
            for answer in item["answers"]:
                others = [item["chosen"]["text"], *(other["text"] for other in left)]
                similarity = near[item["id"], answer["value"]]
                verdict = _verdict(answer["text"], others, similarity, script, item["is_fact"])
                count[f"answers_{verdict}"] += 1
                if verdict == "left":
                    left.append(answer)
            if len(left) < ANSWERS - 1:
                count["topics_short"] += 1
                continue
            item = {**item, "answers": left}
        count["items"] += 1
        kept.append(item)
    return kept, [
        {"culture": culture, "domain": domain, **{name: count[name] for name in COUNT_COLUMNS[2:]}}
        for (culture, domain), count in counts.items()
    ]


def empty_cells(counts: Sequence[dict], cultures: Sequence[str], domains: Sequence[str]) -> Iterator[str]:
    """Yield a problem for each culture and domain without an item: what removed them all."""
    found = {(row["culture"], row["domain"]): row for row in counts}
    for culture, domain in product(cultures, domains):
        row = found.get((culture, domain), dict.fromkeys(COUNT_COLUMNS, 0))
        if not row["items"]:
            removed = ", ".join(f"{name} {row[name]}" for name in COUNT_COLUMNS[2:] if row[name])
            advice = "write more topics"
            yield f"{culture}, {domain}: no item is left ({removed or 'no topic'}); {advice}"


def _verdict(text: str, others: Sequence[str], similarity: float, script: str, is_fact: bool) -> str:
    """Return what happens to a wrong answer: duplicate, foreign, near, far or left.

    others: the right answer, and the wrong ones that are left. similarity: to the right one. Data (is_fact)
    are never too near, and duplicates only if equal. Texts of other numbers are never too near."""
    if any(same_text(text, other) or not is_fact and near_duplicate(text, other) for other in others):
        return "duplicate"
    if foreign(text, script):
        return "foreign"
    if similarity > NEAREST and not is_fact and _digits(text) == _digits(others[0]):
        return "near"
    return "far" if similarity < FARTHEST else "left"


def foreign(text: str, script: str) -> bool:
    """Return whether too few of a text's letters are of the script; without letters: no."""
    return script_share(text, script) < SCRIPT_SHARE


def same_text(one: str, other: str) -> bool:
    """Return whether two texts differ at most in case, spaces and compatibility forms."""
    return _plain(one) == _plain(other)


def any_alike(texts: Sequence[str]) -> bool:
    """Return whether two of some texts are the same in the sense of same_text."""
    return len({_plain(text) for text in texts}) < len(texts)


def near_duplicate(one: str, other: str) -> bool:
    """Return whether two texts are alike in their letters, and equal in their digits."""
    if _digits(one) != _digits(other):
        return False
    words = (re.sub(r"\W|\d", "", _plain(text)) for text in (one, other))
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # upper ones, then the ratio
    return all(bound() >= NEAR_DUPLICATE for bound in bounds)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
