"""Kinds of rejected answers: the one that was written with a request, and those that rules make from what is
there.

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
    """Return the preference pairs of some requests: rows with a `request` (its id) and a `kind`.

    A request's pairs stand one after the other. Which kinds it gets is drawn by hash from those of its mix
    that it can have. All pairs of one request have the same prompt, and mostly the same chosen answer.

    Args:
        requests: rows of templates (see `templates.expanded`), of one split, so that no answer leaves it.
        mix: {subset or category: kinds}; a subset's comes first. A row without one, or of no template, keeps
            its own answer.
        stock: {"vague" or "refusal": English sentences}.
        per_request: pairs of a request; None for all.

    Raises:
        PolyrewardError: no row can have a kind that its mix names.
    """
    partners, pairs = _partners(requests), []
    made: dict[tuple[str, str], bool] = {}
    for row in requests:
        group = row["subset"] if row["subset"] in mix else row.get("category") or ""
        kinds = mix.get(group) if "messages" in row else None
        if kinds is None:
            pairs.append(row)
            continue
        found = {kind: KINDS[kind](row, partners.get(row["id"]), stock, root_seed) for kind in kinds}
        possible = [kind for kind in kinds if found[kind]]
        for kind in kinds:
            made[group, kind] = made.get((group, kind), False) or kind in possible
        order = sorted(possible, key=lambda kind: job_seed(root_seed, "kind", row["id"], kind))
        for kind in [kind for kind in possible if kind in order[:per_request]]:
            named = {"id": f"{row['id']}-{kind}", "request": row["id"], "kind": kind}
            pairs.append({**row, **found[kind], **named})
    never = [f"`{kind}` of {group}" for (group, kind), one in made.items() if not one]
    if never:
        raise PolyrewardError(
            f"kinds of rejected answers: of the {len(requests)} requests that are drawn none can have"
            f" {', '.join(never)}; draw more (templates_per_section), or correct `kinds` in"
            " workflow/catalog/benchmarks.yaml"
        )
    return pairs


def pairs_by(params, stock: Sequence[str], part: str) -> Callable[[Sequence[dict]], list[dict]]:
    """Return pairs_of_kinds with a job's params, and the sentences of stock files.

    Args:
        part: training or evaluation.
    """
    sentences = {name: parts[part] for file in stock for name, parts in read_yaml(file).items()}
    mix, each, seed = params.kinds, params.kinds_per_request, params.seed
    return lambda requests: pairs_of_kinds(requests, mix, sentences, each, seed)


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
    kept = {name: value for name, value in row.items() if name != "english"}
    return {**kept, "rejected": rejected} if rejected and rejected != row["chosen"] else None


def garbled(row: dict) -> str | None:
    """Return an answer with the words of each sentence in another order.

    First and last word, marks and line breaks keep their places, so that neither beginning nor end shows
    it."""
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
    """Return the first half of the right answer, then the second half of another request's."""
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


def echoed(row: dict) -> str:
    """Return the request."""
    return contents(row["prompt"])[-1]


def pieces(text: str) -> tuple[list[str], str]:
    """Return a text's words and what joins them; of a script without spaces, every two characters."""
    if main_script(text) not in UNSPACED:
        return text.split(), " "
    return re.findall(r"[A-Za-z0-9.]+|.[^\sA-Za-z0-9，、；：。]?[，、；：。！？]*", text, re.DOTALL), ""


def _partners(rows: Sequence[dict]) -> dict[str, dict]:
    """Return {id: a row of another template with another answer of about its length}, in twos by source.

    Of two partners each rejects what the other chooses, so that an answer is right as often as wrong."""
    waiting: dict[str, list[dict]] = {}
    partners = {}
    rows = [row for row in rows if "messages" in row]
    for row in sorted(rows, key=lambda row: (len(_english(row, "chosen")), row["id"])):
        others = waiting.setdefault(row["source"], [])
        one = next((other for other in others if _differ(row, other)), None)
        if one is None:
            others.append(row)
        else:
            others.remove(one)
            partners |= {row["id"]: one, one["id"]: row}
    return partners


def _differ(row: dict, other: dict) -> bool:
    return row.get("template") != other.get("template") and row["chosen"] != other["chosen"]


def _english(row: dict, role: str) -> str:
    return " ".join(contents(row["messages"][role]))


def _written(row, partner, stock, seed) -> dict:
    return row


def _off_topic(row, partner, stock, seed) -> dict | None:
    return partner and _with(row, "rejected", partner)


def _drift(row, partner, stock, seed) -> dict | None:
    if not partner or "```" in row["chosen"] + partner["chosen"]:
        return None
    long = all(len(one["chosen"].split()) >= SHORTEST for one in (row, partner))
    return _with(row, "rejected", partner) if long else None


def _garble(row, partner, stock, seed) -> dict | None:
    long = "```" not in row["chosen"] and len(row["chosen"].split()) >= ENOUGH
    return _with(row, "rejected", row) if long and garbled(row) else None


def _prose(row, partner, stock, seed) -> dict | None:
    long = "```" not in row["chosen"] and len(row["chosen"].split()) >= SHORTEST
    return _with(row, "rejected", row) if long else None


def _echo(row, partner, stock, seed) -> dict:
    return _with(row, "rejected", row)


def _other_language(row, partner, stock, seed) -> dict | None:
    kept = _prose(row, partner, stock, seed)
    return kept and {**kept, "english": row["chosen"]}


def _stock(role: str, sentences: str) -> Callable[..., dict | None]:
    """Make a kind whose answer of a role is a stock sentence about as long as the other answer."""

    def make(row, partner, stock, seed) -> dict | None:
        if "```" in row["chosen"]:
            return None
        other = row["chosen" if role == "rejected" else "rejected"]
        near = sorted(stock[sentences], key=lambda text: abs(len(text) - len(other)))[
            : len(stock[sentences]) // 2
        ]
        text = min(near, key=lambda text: job_seed(seed, "stock", row["id"], text))
        return _with(row, role, {"chosen": text, "messages": {"chosen": text}, "slots": {"chosen": {}}})

    return make


def _with(row: dict, role: str, other: dict) -> dict:
    """Return a row whose answer of a role is another row's right one."""
    return {
        **row,
        role: other["chosen"],
        "messages": {**row["messages"], role: other["messages"]["chosen"]},
        "slots": {**row["slots"], role: other["slots"]["chosen"]},
    }


KINDS: dict[str, Callable[..., dict | None]] = {
    "written": _written,
    "off_topic": _off_topic,
    "drift": _drift,
    "garble": _garble,
    "vague": _stock("rejected", "vague"),
    "overrefuse": _stock("rejected", "refusal"),
    "refuse": _stock("chosen", "refusal"),
    "cut": _prose,
    "loop": _prose,
    "echo": _echo,
    "other_language": _other_language,
}
MADE_OF_WORDS: dict[str, Callable[[dict], str | None]] = {
    "drift": drifted,
    "garble": garbled,
    "cut": cut_off,
    "loop": looped,
    "echo": echoed,
    "other_language": lambda row: row["english"],
}
