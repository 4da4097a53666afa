"""Kinds of rejected answers: the one that was written with a request, and those that rules make.

A kind is chosen before translation (`pairs_of_kinds`). What changes the words of an answer acts after it
(`finished`), on the words of the language."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.core.seeds import job_seed
from polyreward.core.writing import main_script
from polyreward.core.yaml_files import read_yaml

UNSPACED = ("Hans", "Jpan", "Thai", "Khmr")  # scripts without spaces between words
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
MARKS = re.compile(r"[,;:，、；：]*$")
SHORTEST = 8  # words of an English answer that can be halved
ENOUGH = 18  # words of one that can be garbled: in other languages its sentences have fewer words


def pairs_of_kinds(
    requests: Sequence[dict],
    mix: Mapping[str, Sequence[str]],
    stock: Mapping[str, Sequence[str]],
    per_request: int | None,
    root_seed: int,
) -> list[dict]:
    """Return the preference pairs of requests, in order: rows with a `request` (its id) and a `kind`.

    Which kinds a request gets is drawn by hash from those of its mix that it can have.

    Args:
        requests: rows of templates (see `templates.expanded`), of one split, so that no answer leaves it.
        mix: {subset or category: kinds}, a subset's first. Other rows, and rows of no template, stay.
        stock: {"vague" or "refusal": English sentences}.
        per_request: pairs of a request; None for all.

    Raises:
        PolyrewardError: no row can have a kind that its mix names.
    """
    partners, pairs, possible_for = _partners(requests), [], {}
    for row in requests:
        group = row["subset"] if row["subset"] in mix else row.get("category") or ""
        kinds = mix.get(group) if "messages" in row else None
        if kinds is None:
            pairs.append(row)
            continue
        found = {kind: _of_kind(kind, row, partners.get(row["id"]), stock, root_seed) for kind in kinds}
        for kind in kinds:
            possible_for.setdefault(f"`{kind}` of {group}", []).append(bool(found[kind]))
        possible = [kind for kind in kinds if found[kind]]
        order = sorted(possible, key=lambda kind: job_seed(root_seed, "kind", row["id"], kind))
        for kind in [kind for kind in possible if kind in order[:per_request]]:
            named = {"id": f"{row['id']}-{kind}", "request": row["id"], "kind": kind}
            pairs.append({**row, **found[kind], **named})
    never = [name for name, rows in possible_for.items() if not any(rows)]
    if never:
        raise PolyrewardError(
            f"kinds of rejected answers: of the {len(requests)} requests that are drawn none can have"
            f" {', '.join(never)}; draw more (templates_per_section), or correct `kinds` in"
            " workflow/catalog/benchmarks.yaml"
        )
    return pairs


def pairs_by(params, stock: Sequence[str], part: str) -> Callable[[Sequence[dict]], list[dict]]:
    """Return pairs_of_kinds with a job's params and stock sentences; part: training or evaluation."""
    sentences = {name: parts[part] for file in stock for name, parts in read_yaml(file).items()}
    return lambda requests: pairs_of_kinds(
        requests, params.kinds, sentences, params.kinds_per_request, params.seed
    )


def off_topic_pairs(rows: Sequence[dict]) -> list[dict]:
    """Return the rows of templates with the right answer to another request as the rejected one."""
    subsets = {row["subset"] for row in rows if "messages" in row}
    return pairs_of_kinds(rows, dict.fromkeys(subsets, ["off_topic"]), {}, None, 0)


def finished(row: dict) -> dict | None:
    """Return a translated row with the rejected answer that its kind makes; None where it makes none."""
    make = MADE_OF_WORDS.get(row.get("kind", ""))
    if make is None:
        return row
    rejected = make(row)
    if not rejected or rejected == row["chosen"]:
        return None
    return {name: value for name, value in row.items() if name != "english"} | {"rejected": rejected}


def garbled(row: dict) -> str | None:
    """Return an answer with the words inside each sentence in another order; marks and ends stay."""
    chosen, order = row["chosen"], random.Random(job_seed(0, "garbled", row["id"]))
    moved, parts, start = 0, [], 0
    for end in [*SENTENCES.finditer(chosen), None]:
        sentence = chosen[start : end.start() if end else len(chosen)]
        words, space = pieces(sentence)
        marks = [MARKS.search(word)[0] for word in words]
        words = [word.removesuffix(mark) for word, mark in zip(words, marks, strict=True)]
        inner = [place for place in range(1, len(words) - 1) if words[place]]
        orders = [order.sample(inner, len(inner)) for _ in range(20)]
        best = max(orders, key=lambda new: sum(words[a] != words[b] for a, b in zip(inner, new, strict=True)))
        changed = dict(zip(inner, (words[place] for place in best), strict=True))
        moved += sum(words[place] != word for place, word in changed.items())
        parts.append(space.join(changed.get(n, word) + marks[n] for n, word in enumerate(words)))
        if end:
            parts.append(end.group())
            start = end.end()
    return "".join(parts) if moved >= SHORTEST // 2 else None


def drifted(row: dict) -> str | None:
    """Return the first half of the right answer and the second half of another request's."""
    (words, space), (others, _) = pieces(row["chosen"]), pieces(row["rejected"])
    if min(len(words), len(others)) < SHORTEST // 2:
        return None
    return space.join(words[: len(words) // 2] + others[len(others) // 2 :])


def cut_off(row: dict) -> str | None:
    """Return about half of the right answer, without a mark at its end."""
    words, space = pieces(row["chosen"])
    share = 0.45 + 0.25 * random.Random(job_seed(0, "cut", row["id"])).random()
    return space.join(words[: round(share * len(words))]).rstrip(" ,.;:!?，、；：。！？") or None


def looped(row: dict) -> str | None:
    """Return the right answer's beginning again and again, as long as the answer."""
    words, space = pieces(row["chosen"])
    part = words[: max(3, len(words) * 2 // 5)]
    return space.join((part * (len(words) // len(part) + 1))[: len(words)]) if part else None


def pieces(text: str) -> tuple[list[str], str]:
    """Return a text's words and what joins them; of a script without spaces, every two characters."""
    if main_script(text) not in UNSPACED:
        return text.split(), " "
    return re.findall(r"[A-Za-z0-9.]+|.[^\sA-Za-z0-9，、；：。]?[，、；：。！？]*", text, re.DOTALL), ""


def _partners(rows: Sequence[dict]) -> dict[str, dict]:
    """Return {id: a row of another template with another answer of about its length}.

    Two partners of one source reject each other's answers, which are then right as often as wrong."""

    def length(row: dict) -> tuple[int, str]:
        return len(" ".join(contents(row["messages"]["chosen"]))), row["id"]

    waiting: dict[str, list[dict]] = {}
    partners = {}
    for row in sorted((row for row in rows if "messages" in row), key=length):
        others = waiting.setdefault(row["source"], [])
        differ = (
            other
            for other in others
            if row.get("template") != other.get("template") and row["chosen"] != other["chosen"]
        )
        one = next(differ, None)
        if one is None:
            others.append(row)
        else:
            others.remove(one)
            partners |= {row["id"]: one, one["id"]: row}
    return partners


def _of_kind(kind: str, row: dict, partner: dict | None, stock: Mapping, seed: int) -> dict | None:
    """Return a row with the answers of a kind before translation; None where it cannot have the kind."""
    if kind == "written":
        return row
    if kind == "echo":
        return _with(row, "rejected", row)
    if kind == "off_topic":
        return partner and _with(row, "rejected", partner)
    if "```" in row["chosen"]:
        return None
    if kind in STOCK:
        role, name = STOCK[kind]
        other = row["chosen" if role == "rejected" else "rejected"]
        near = sorted(stock[name], key=lambda text: abs(len(text) - len(other)))[: len(stock[name]) // 2]
        text = min(near, key=lambda text: job_seed(seed, "stock", row["id"], text))
        return _with(row, role, {"chosen": text, "messages": {"chosen": text}, "slots": {"chosen": {}}})
    if len(row["chosen"].split()) < (ENOUGH if kind == "garble" else SHORTEST):
        return None
    if kind == "drift":
        long = partner and "```" not in partner["chosen"] and len(partner["chosen"].split()) >= SHORTEST
        return _with(row, "rejected", partner) if long else None
    if kind == "garble" and not garbled(row):
        return None
    english = {"english": row["chosen"]} if kind == "other_language" else {}
    return {**_with(row, "rejected", row), **english}


def _with(row: dict, role: str, other: dict) -> dict:
    """Return a row whose answer of a role is another row's right one."""
    return {
        **row,
        role: other["chosen"],
        "messages": {**row["messages"], role: other["messages"]["chosen"]},
        "slots": {**row["slots"], role: other["slots"]["chosen"]},
    }


# {kind: (which answer a stock sentence of about its other's length replaces, of which stock)}
STOCK = {
    "vague": ("rejected", "vague"),
    "overrefuse": ("rejected", "refusal"),
    "refuse": ("chosen", "refusal"),
}
MADE_OF_WORDS: dict[str, Callable[[dict], str | None]] = {
    "drift": drifted,
    "garble": garbled,
    "cut": cut_off,
    "loop": looped,
    "echo": lambda row: contents(row["prompt"])[-1],
    "other_language": lambda row: row["english"],
}
KINDS = ("written", "off_topic", *STOCK, *MADE_OF_WORDS)
