"""Translation engines: rows of English in, rows of another language out."""

import re
from collections.abc import Callable, Sequence

from polyreward.core.conversations import contents, with_each
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.sources.templates import TEXTS
from polyreward.translation.catalog import translated_fields
from polyreward.translation.invariants import FENCE, broken_invariants

KEPT = ("id", "template", "source", "subset", "category")
LineTranslator = Callable[[Sequence[str], str, str], Sequence[str]]


def source_rows(rows: Sequence[dict]) -> list[dict]:
    """Return the rows as they are, in their own language, without what only engines need."""
    return [_row(row, {role: row[role] for role in roles_of(row)}) for row in rows]


def roles_of(row: dict) -> list[str]:
    """Return which of a row's fields are text to translate: those of a pair, a prompt alone, or a passage."""
    return [role for role in (*TEXTS, "text") if role in row]


def gettext_rows(rows: Sequence[dict], language: str, catalog: str) -> list[dict]:
    """Translate rows made from templates with a .po file and localise their slots.

    Raises PolyrewardError for rows without messages, and for every missing, fuzzy or broken catalog entry."""
    raise_all((f"`{row['id']}` comes from no template" for row in rows if "messages" not in row), "gettext engine")
    return [_row(row, fields) for row, fields in zip(rows, translated_fields(rows, catalog, language), strict=True)]


def lm_rows(rows: Sequence[dict], language: str, translate_lines: LineTranslator) -> list[dict]:
    """Translate rows line by line with a language model; what must survive does, whatever the model says.

    translate_lines(lines, source language, target language) returns as many lines. Code blocks are never sent; a line
    whose translation drops a number or a placeholder, or is empty, stays as it was (see the quality table)."""
    texts = [text for row in rows for role in roles_of(row) for text in contents(row[role])]
    translated = iter(translated_texts(texts, language, translate_lines))
    return [_row(row, {role: with_each(row[role], lambda _: next(translated)) for role in roles_of(row)}) for row in rows]


def translated_texts(texts: Sequence[str], language: str, translate_lines: LineTranslator) -> list[str]:
    """Translate texts, sending only their distinct lines of prose to `translate_lines`."""
    split = [_pieces(text) for text in texts]
    lines = list(dict.fromkeys(piece.strip() for pieces in split for piece, is_prose in pieces if is_prose))
    answers = list(translate_lines(lines, "en", language))
    if len(answers) != len(lines):
        raise PolyrewardError(f"translation engine: {len(answers)} lines came back for {len(lines)}; it must keep their number")
    by_line = dict(zip(lines, map(str.strip, answers), strict=True))
    joined = ["".join(_translated_piece(piece, by_line) if is_prose else piece for piece, is_prose in pieces) for pieces in split]
    # Lines that are whole alone may still spoil each other, as a backtick beside a fence does.
    return [text if any(broken_invariants(text, done)) else done for text, done in zip(texts, joined, strict=True)]


def _pieces(text: str) -> list[tuple[str, bool]]:
    """Cut a text into code blocks, line breaks and lines of prose: (piece, is it prose)."""
    pieces, start = [], 0
    for fence in [*FENCE.finditer(text), None]:
        outside = text[start : fence.start() if fence else len(text)]
        pieces += [(line, any(c.isalpha() for c in line)) for line in re.split(r"(\n)", outside) if line]
        if fence:
            pieces.append((fence.group(), False))
            start = fence.end()
    return pieces


def _translated_piece(piece: str, by_line: dict[str, str]) -> str:
    line = piece.strip()
    answer = by_line[line]
    if not answer or any(broken_invariants(line, answer)):
        return piece
    return piece.replace(line, answer, 1)


def _row(row: dict, fields: dict) -> dict:
    return {**{key: row[key] for key in KEPT if key in row}, **fields}
