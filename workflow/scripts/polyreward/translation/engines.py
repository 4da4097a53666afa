"""Translation engines: from English rows to another language's."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from polyreward.core.conversations import contents, map_texts
from polyreward.core.errors import PolyrewardError
from polyreward.translation.catalog import roles_of, translated_rows
from polyreward.translation.invariants import FENCE, broken_invariants

KEPT = ("id", "template", "source", "subset", "category", "request", "kind", "english", "margin")


class Reply(NamedTuple):
    """A translation of a piece of text; whole: not cut at the limit of new tokens."""

    text: str
    whole: bool = True


Translator = Callable[[Sequence[str], str, str], Sequence[Reply]]  # pieces, source and target language
# {unit to send at a time, the largest first: how it splits a text, keeping the separators}
SEPARATORS: dict[str, Callable[[str], list[str]]] = {
    "text": lambda text: [text],
    "line": re.compile(r"(\n)").split,
    "sentence": re.compile(r"(\n|(?<=[.!?\u2026])[ \t]+)").split,
}
UNITS = tuple(SEPARATORS)


def source_rows(rows: Sequence[dict]) -> list[dict]:
    """Return rows in their own language, without the fields that only engines need."""
    return [{key: row[key] for key in (*KEPT, *roles_of(row)) if key in row} for row in rows]


def gettext_rows(rows: Sequence[dict], language: str, catalog: str, part: bool = False) -> list[dict]:
    """Translate rows with a .po file, and localise the slots of templates; as catalog.translated_rows."""
    return source_rows(translated_rows(rows, catalog, language, part))


def lm_rows(
    rows: Sequence[dict],
    language: str,
    translate: Translator,
    unit: str = "line",
    code: Sequence[str] = (),
) -> list[dict]:
    """Translate rows with a model, and keep their invariants.

    What loses a number or placeholder, is empty or is cut is tried again in smaller parts. A part that still
    fails stays in English. Code blocks are never sent.

    Args:
        unit: of UNITS, the size of what is sent.
        code: subsets whose answers are code without fences, which stay as they are.
    """

    def sent(row: dict) -> list[str]:
        return [role for role in roles_of(row) if role == "prompt" or row.get("subset") not in code]

    texts = [text for row in rows for role in sent(row) for text in contents(row[role])]
    translated = iter(translated_texts(texts, language, translate, unit))
    return source_rows(
        [row | {role: map_texts(row[role], lambda _: next(translated)) for role in sent(row)} for row in rows]
    )


def translated_texts(
    texts: Sequence[str], language: str, translate: Translator, unit: str = "line"
) -> list[str]:
    """Translate texts, sending each distinct piece of prose to `translate` once."""

    def ask(pieces: Sequence[str]) -> list[Reply]:
        answers = list(translate(pieces, "en", language))
        if len(answers) != len(pieces):
            raise PolyrewardError(
                f"translation engine: {len(answers)} lines came back for {len(pieces)}; it must keep their"
                " number"
            )
        return answers

    split = [_pieces(text, unit) for text in texts]
    found = _translations(_prose(split), UNITS[UNITS.index(unit) :], ask, frozenset())
    joined = [_joined(pieces, found) for pieces in split]
    # Pieces that are each sound may still spoil each other, as a backtick next to a fence does.
    return [
        text if any(broken_invariants(text, done)) else done for text, done in zip(texts, joined, strict=True)
    ]


def _translations(
    pieces: Sequence[str],
    units: Sequence[str],
    ask: Callable[[Sequence[str]], list[Reply]],
    refused: frozenset[str],
) -> dict[str, str]:
    """Return {piece: translation} for pieces with a sound one, whole or in parts of smaller `units`.

    Args:
        refused: pieces with an unsound translation.
    """
    fresh = [piece for piece in pieces if piece not in refused]
    found = {}
    for piece, said in zip(fresh, ask(fresh) if fresh else [], strict=True):
        text = said.text.strip()
        if said.whole and text and not any(broken_invariants(piece, text)):
            found[piece] = text
    rest = [piece for piece in pieces if piece not in found]
    if not rest or not units[1:]:
        return found
    parts = {piece: _pieces(piece, units[1]) for piece in rest}
    smaller = _translations(_prose(parts.values()), units[1:], ask, refused.union(rest))
    return found | {
        piece: joined for piece, split in parts.items() if (joined := _joined(split, smaller)) != piece
    }


def _pieces(text: str, unit: str) -> list[tuple[str, bool]]:
    """Split a text into (piece, is it prose): code blocks, separators, and units of prose."""
    pieces, start = [], 0
    for fence in [*FENCE.finditer(text), None]:
        outside = text[start : fence.start() if fence else len(text)]
        pieces += [(piece, any(c.isalpha() for c in piece)) for piece in SEPARATORS[unit](outside) if piece]
        if fence:
            pieces.append((fence.group(), False))
            start = fence.end()
    return pieces


def _prose(split: Iterable[list[tuple[str, bool]]]) -> list[str]:
    return list(dict.fromkeys(piece.strip() for pieces in split for piece, is_prose in pieces if is_prose))


def _joined(pieces: list[tuple[str, bool]], found: Mapping[str, str]) -> str:
    return "".join(
        piece.replace(piece.strip(), found.get(piece.strip(), piece.strip()), 1) if is_prose else piece
        for piece, is_prose in pieces
    )
