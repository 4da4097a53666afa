"""Open books: the prompt holds the four answers, each with its place. A scorer that cannot read them there
cannot be judged on what it knows of places."""

import dataclasses
from collections.abc import Sequence

from polyreward.carb.culture.quartets import FOUR, Quartet, Wording, framed
from polyreward.core.seeds import job_seed
from polyreward.prepare.topics import FACT

# The same, with candidates that name the place, too; and a book in which each answer stands at another place,
# where what the book says is right
BOOK, LABELLED, FALSE = BOOKS = ("open book", "open book with labels", "false book")


def open_books(quartets: Sequence[Quartet], taught: frozenset[str], count: int, seed: int) -> list[Quartet]:
    """Return the quartets of some topics of facts, once with each of BOOKS.

    taught: topics that are left out, since reward models have lessons on them. count: topics, drawn by hash;
    the first quartet of each."""
    first = {one.topic: one for one in reversed(quartets) if one.kind == FACT and one.topic not in taught}
    topics = sorted(first, key=lambda topic: job_seed(seed, "carb", "open book", topic))[:count]
    return [_with_book(first[topic], book, seed) for topic in topics for book in BOOKS]


def _with_book(quartet: Quartet, kind: str, seed: int) -> Quartet:
    order = sorted(range(FOUR), key=lambda line: job_seed(seed, "carb", "line", quartet.name, str(line)))
    wordings = {language: _wording(one, kind, order) for language, one in quartet.wordings.items()}
    name = f"{quartet.name}-{kind.replace(' ', '-')}"
    return dataclasses.replace(quartet, name=name, kind=kind, wordings=wordings)


def _wording(texts: Wording, kind: str, order: Sequence[int]) -> Wording:
    """Return a wording with a book; order: of its lines, the same in every language."""
    answers = [*texts.answers[1:], texts.answers[0]] if kind == FALSE else list(texts.answers)
    lines = [framed(texts.label, texts.places[line], answers[line]) for line in order]
    frame = texts.label if kind == LABELLED else texts.frame
    return dataclasses.replace(
        texts, answers=answers, book="".join(f"{line}\n" for line in lines), frame=frame
    )
