"""How people lay out a preference pair: plain texts, TRL's message lists, RewardBench's columns. One way out
for all.

A prompt is a text or a message list. An answer is a text, or a message list that ends with it; of whole
conversations without a prompt, what they share before their last message is the prompt."""

import json
from collections.abc import Sequence

from polyreward.core.conversations import as_messages
from polyreward.core.inert import HIDDEN, printable

CONTENT = ("prompt", "chosen", "rejected")


class UnfitRow(Exception):  # noqa: N818 - of a row, not of the file
    """A row that cannot be read as a pair; its text says why and how to fix it."""


def as_pair(found: dict, number: int) -> dict:
    """Return a row as read with texts for answers, as prepare.pool.row_problems checks it; number: its id
    where it has none.

    Raises UnfitRow."""
    given = {key: value for key, value in found.items() if value is not None or key in CONTENT}
    row = {"subset": "all", "category": None, **given, "id": given.get("id", number)}
    row |= {key: _name(row[key], key) for key in ("id", "subset")}
    row["prompt"] = _plain(row.get("prompt"))
    chosen, rejected = row.get("chosen"), row.get("rejected")
    several = isinstance(rejected, list) and not _has_messages(rejected)
    wrong = list(rejected) if several else [rejected]
    answers = [("chosen", _only(chosen)), *(("rejected", one) for one in wrong)]
    if any(isinstance(answer, list) for _, answer in answers):
        row["prompt"], texts = _split([(key, _plain(answer)) for key, answer in answers], row["prompt"])
        row |= {"chosen": texts[0], "rejected": texts[1:] if several else texts[1]}
    else:
        row["chosen"] = answers[0][1]
    return row


def _split(
    answers: Sequence[tuple[str, str | list]], prompt: str | list | None
) -> tuple[str | list | None, list]:
    """Return (prompt, answers as texts) of answers of which some are conversations that end with the
    answer."""
    texts, before = [], []
    for key, answer in answers:
        if not isinstance(answer, list):
            texts.append(answer)
            before.append(None)
            continue
        if not is_conversation(answer):
            raise UnfitRow(f"`{key}` has a message without a `role` or `content`; give both, as text")
        if answer[-1]["role"] != "assistant":
            raise UnfitRow(
                f"`{key}` ends with a message of role `{answer[-1]['role']}`; end it with the assistant's"
                " answer"
            )
        texts.append(answer[-1]["content"])
        before.append(answer[:-1])
    if prompt:
        as_given = as_messages(prompt, "")[:-1]
        for (key, _), turns in zip(answers, before, strict=True):
            if turns and turns != as_given:
                raise UnfitRow(
                    f"`{key}` has other messages before its answer than `prompt`; leave the answer alone, or"
                    " no `prompt`"
                )
        return prompt, texts
    if any(turns != before[0] for turns in before):
        raise UnfitRow(
            "`chosen` and `rejected` differ before their last message; give both the same, or a `prompt`"
        )
    return before[0] or None, texts


def _has_messages(value: list) -> bool:
    return any(isinstance(item, dict) for item in value)


def is_conversation(value: object) -> bool:
    """Return whether a value is a list of messages, each with a role and a content."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(turn, dict) and all(isinstance(turn.get(key), str) for key in ("role", "content"))
            for turn in value
        )
    )


def _plain(value):
    """Return a message list without the empty keys that Parquet gives each message; anything else as it
    is."""
    if not isinstance(value, list):
        return value
    return [
        {key: of for key, of in turn.items() if of is not None} if isinstance(turn, dict) else turn
        for turn in value
    ]


def _only(chosen):
    """Return the answer of a list of one text, as RewardBench 2 has it; anything else as it is."""
    if isinstance(chosen, list) and not _has_messages(chosen):
        if len(chosen) != 1:
            raise UnfitRow(f"`chosen` has {len(chosen)} answers; give one")
        return chosen[0]
    return chosen


def _name(value, key: str) -> object:
    """Return a text as it is, and a whole number as text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes whole numbers so where one is missing
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UnfitRow(f"`{key}` is {json.dumps(value, default=str)}; give a text or a whole number")
    if HIDDEN.search(str(value)):
        raise UnfitRow(
            f"`{key}` has characters that nobody sees ({printable(str(value))[:80]}); take them out"
        )
    return str(value)
