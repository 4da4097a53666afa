"""One shape for preference pairs and their messages, whatever wrote them.

A pair is `{id, subset, category, template, prompt, chosen, rejected}`. The prompt is a text or a message list
that ends before the answer. `rejected` is a text or a list of texts, all of which chosen must beat.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping

from polyreward.core.conversations import as_turns
from polyreward.core.files import parsed_json
from polyreward.core.inert import HIDDEN, printable

Message = dict[str, str]
NAMES = ("id", "subset", "category", "template")
# ShareGPT's names (and similar ones) of the roles that chat templates know.
ROLES = {"human": "user", **dict.fromkeys(("gpt", "bot", "model", "chatgpt"), "assistant")}
# Parts of a message that its text does not hold. To score without them would score another answer.
UNSHOWN = ("reasoning_content", "reasoning", "thinking", "tool_calls", "function_call", "audio", "images")
IGNORED = re.compile("[\u00ad\u200b\u2060\ufeff]")  # characters of a name that print as nothing
RESERVED = "all items"  # the name of the row over all subsets in tables of accuracies
# A message, or a list of them, that was written as text: by JSON, or by pandas as Python does.
AS_TEXT = re.compile(
    r"""\s*\[?\s*\{\s*(?=["'])(?=.*["'](role|from)["']\s*:\s*["'](system|user|assistant|human|gpt)["'])""",
    re.DOTALL,
)


class UnfitRow(Exception):  # noqa: N818 - of a row, not of the file
    """A row that cannot be read as a pair, and how to fix it."""


class LeftOut(Exception):  # noqa: N818 - nothing is wrong with such a row
    """Why a valid row makes no pair, such as a tie."""


def message_list(value: object, column: str) -> object:
    """Return a column's messages as `[{role, content}]` with the usual role names; other values unchanged.

    Accepts messages as text, ShareGPT's from and value, and contents in text parts.

    Raises:
        UnfitRow: a message is incomplete, or holds something that its text does not show.
    """
    if isinstance(value, str) and AS_TEXT.match(value):
        value = _parsed(value, column)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return value
    return [_message(turn, f"`{column}`: message {number}") for number, turn in enumerate(value, 1)]


def _parsed(text: str, column: str) -> list | dict:
    for parse in (parsed_json, ast.literal_eval):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, list | dict):
            return found
    raise UnfitRow(
        f"`{column}`: holds a message list as text that cannot be read (pandas writes lists so); save as"
        " Parquet or JSON"
    )


def _message(turn: object, where: str) -> Message:
    if not isinstance(turn, dict):
        raise UnfitRow(f"{where} is {shown(turn)}; write {{role, content}}")
    role, content = turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))
    for key in UNSHOWN:
        if turn.get(key):
            raise UnfitRow(f"{where} has `{key}`, which is not scored; move it into `content` or drop it")
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None
            for part in content
        ]
        if not all(isinstance(part, str) for part in parts):
            raise UnfitRow(f"{where} has parts that are no text, such as an image; leave the row out")
        content = "".join(parts)
    if not isinstance(role, str) or not isinstance(content, str):
        raise UnfitRow(f"{where} has no `role` or no `content`; give both, as text")
    return {"role": ROLES.get(role, role), "content": content}


def shown(value: object) -> str:
    """Return the beginning of a value as an error shows it."""
    return json.dumps(value, default=str, ensure_ascii=False)[:80]


def split_answer(value: object, column: str) -> tuple[list[Message] | None, str]:
    """Split off an answer: (the turns before it, or None; the answer)."""
    value = message_list(value, column)
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        if value[-1]["role"] != "assistant":
            raise UnfitRow(
                f"`{column}` ends with a message of role `{value[-1]['role'][:40]}`; end it with the answer"
            )
        return value[:-1], value[-1]["content"]
    if value is not None and not isinstance(value, str):
        raise UnfitRow(f"`{column}` is {shown(value)}, not a text; give the answer as text")
    return None, value or ""


def pair(prompt: object, chosen: object, rejected: object, **names: object) -> dict:
    """Return one pair; names: id, subset, category, template.

    An answer may be a text, a message, or a conversation that ends with it. Without a prompt, the turns that
    the conversations share are the prompt.
    """
    several = isinstance(rejected, list) and not any(isinstance(one, dict) for one in rejected)
    answers = [split_answer(chosen, "chosen")]
    answers += [split_answer(one, "rejected") for one in (rejected if several else [rejected])]
    prompt = message_list(prompt, "prompt")
    turns = [before for before, _ in answers if before]
    if prompt:
        if any(stripped(before) != stripped(as_turns(prompt)) for before in turns):
            raise UnfitRow("an answer has other messages before it than `prompt`; correct one of the two")
    elif any(before != answers[0][0] for before, _ in answers):
        raise UnfitRow(
            "the conversations differ before their last message; give both the same turns before it"
        )
    else:
        prompt = turns[0] if turns else None
    texts = [text for _, text in answers]
    named = {key: name_of(names.get(key), key) for key in NAMES}
    return {**named, "prompt": prompt, "chosen": texts[0], "rejected": texts[1:] if several else texts[1]}


def stripped(turns: Iterable[Mapping]) -> list[tuple]:
    """Return messages by which two prompts are compared: (role, content without outer white space)."""
    return [(turn.get("role"), str(turn.get("content")).strip()) for turn in turns]


def name_of(value: object, key: str) -> str | None:
    """Return a name as text in one spelling: composed, with plain spaces, without what prints as nothing."""
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes whole numbers so where one is missing
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UnfitRow(f"`{key}` is {shown(value)}; give a text or a whole number")
    text = " ".join(IGNORED.sub("", unicodedata.normalize("NFC", str(value))).split())
    if HIDDEN.search(text):
        raise UnfitRow(f"`{key}` has invisible characters ({printable(text)[:80]}); delete them")
    if key == "subset" and text == RESERVED:
        raise UnfitRow(f"`subset` is `{RESERVED}`, which is the name of all of them together; choose another")
    return text or None
