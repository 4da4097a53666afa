"""Translation engines: rows of English in, rows of another language out."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from polyreward.core.conversations import contents, with_each
from polyreward.core.errors import PolyrewardError
from polyreward.translation.catalog import roles_of, translated_rows
from polyreward.translation.invariants import FENCE, broken_invariants

KEPT = ("id", "template", "source", "subset", "category")


class Reply(NamedTuple):
    """What a model says to a piece of text. whole: it came to its end, and was not cut at the limit of new
    tokens."""

    text: str
    whole: bool = True


Translator = Callable[[Sequence[str], str, str], Sequence[Reply]]
# What is sent at a time, the largest first, and how a text is cut into it, with what stands between.
SEPARATORS: dict[str, Callable[[str], list[str]]] = {
    "text": lambda text: [text],
    "line": re.compile(r"(\n)").split,
    "sentence": re.compile(r"(\n|(?<=[.!?\u2026])[ \t]+)").split,
}
UNITS = tuple(SEPARATORS)


def source_rows(rows: Sequence[dict]) -> list[dict]:
    """Return the rows as they are, in their own language, without what only engines need."""
    return [_row(row, {role: row[role] for role in roles_of(row)}) for row in rows]


def gettext_rows(rows: Sequence[dict], language: str, catalog: str, part: bool = False) -> list[dict]:
    """Translate rows with a .po file, and localise the slots of those that come from templates.

    part: templates whose texts the file does not have are left out. Raises PolyrewardError for every fuzzy or
    broken entry, and without `part` for every missing one."""
    found = translated_rows(rows, catalog, language, part)
    return [_row(row, {role: row[role] for role in roles_of(row)}) for row in found]


def lm_rows(rows: Sequence[dict], language: str, translate: Translator, unit: str = "line") -> list[dict]:
    """Translate rows with a model; what must survive does, whatever the model says.

    translate: as `translated_texts` has it. unit: of UNITS, what is sent at a time; code blocks never are.
    What loses a number or a placeholder, is empty or was cut at the limit is tried again in smaller parts; a
    part that still fails stays as it was, and untranslated.csv counts it."""
    texts = [text for row in rows for role in roles_of(row) for text in contents(row[role])]
    translated = iter(translated_texts(texts, language, translate, unit))
    return [
        _row(row, {role: with_each(row[role], lambda _: next(translated)) for role in roles_of(row)})
        for row in rows
    ]


def translated_texts(
    texts: Sequence[str], language: str, translate: Translator, unit: str = "line"
) -> list[str]:
    """Translate texts, sending only their distinct pieces of prose to `translate`.

    translate(pieces, source language, target language) returns a `Reply` for each."""

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
    """Return {piece: its translation} of those that have a sound one, whole or from smaller parts.

    units: that of the pieces, then smaller ones. refused: pieces whose translation was not sound."""
    fresh = [piece for piece in pieces if piece not in refused]
    answers = ask(fresh) if fresh else []
    found = {
        piece: said.text.strip() for piece, said in zip(fresh, answers, strict=True) if _is_sound(piece, said)
    }
    rest = [piece for piece in pieces if piece not in found]
    if not rest or not units[1:]:
        return found
    parts = {piece: _pieces(piece, units[1]) for piece in rest}
    smaller = _translations(_prose(parts.values()), units[1:], ask, refused.union(rest))
    return found | {
        piece: joined for piece, split in parts.items() if (joined := _joined(split, smaller)) != piece
    }


def _is_sound(piece: str, said: Reply) -> bool:
    text = said.text.strip()
    return said.whole and bool(text) and not any(broken_invariants(piece, text))


def prose_units(text: str) -> list[str]:
    """Return the sentences of a text outside code, without the space around them, each as often as it stands
    there."""
    return [piece.strip() for piece, is_prose in _pieces(text, "sentence") if is_prose]


def _pieces(text: str, unit: str) -> list[tuple[str, bool]]:
    """Cut a text into code blocks, what separates units, and units of prose: (piece, is it prose)."""
    pieces, start = [], 0
    for fence in [*FENCE.finditer(text), None]:
        outside = text[start : fence.start() if fence else len(text)]
        pieces += [(piece, any(c.isalpha() for c in piece)) for piece in SEPARATORS[unit](outside) if piece]
        if fence:
            pieces.append((fence.group(), False))
            start = fence.end()
    return pieces


def _prose(split: Iterable[list[tuple[str, bool]]]) -> list[str]:
    """Return the distinct pieces of prose, without the space around them."""
    return list(dict.fromkeys(piece.strip() for pieces in split for piece, is_prose in pieces if is_prose))


def _joined(pieces: list[tuple[str, bool]], found: Mapping[str, str]) -> str:
    return "".join(
        piece.replace(piece.strip(), found.get(piece.strip(), piece.strip()), 1) if is_prose else piece
        for piece, is_prose in pieces
    )


def _row(row: dict, fields: dict) -> dict:
    return {**{key: row[key] for key in KEPT if key in row}, **fields}
