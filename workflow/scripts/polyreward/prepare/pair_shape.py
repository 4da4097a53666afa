"""One shape for preference pairs and their messages, whatever wrote them.

A pair is `{id, subset, category, template, prompt, chosen, rejected}`. The prompt is a text or a message list
that ends before the answer. `rejected` is a text or a list of texts, all of which chosen must beat.
"""

import ast
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping

from polyreward.core.conversations import ROLES, as_turns
from polyreward.core.files import parsed_json
from polyreward.core.inert import HIDDEN, printable

Message = dict[str, str]
NAMES = ("id", "subset", "category", "template")
# {name of a role in lower case: as chat templates know it}; ShareGPT and others have names of their own
KNOWN_AS = {
    **{role: role for role in ROLES},
    **dict.fromkeys(("human", "prompter"), "user"),
    **dict.fromkeys(("gpt", "bot", "model", "chatgpt", "ai"), "assistant"),
}
# Keys of a message that change nothing of what it says. Any other with a text or a list in it is refused: to
# score without it would score another answer. Numbers and yes or no count as harmless.
HARMLESS = {
    *("role", "from", "content", "value", "name", "id", "type", "index", "parent_id", "conversation_id"),
    *("message_id", "turn_identifier", "timestamp", "created", "created_at", "date", "model", "model_name"),
    *("lang", "language", "country", "state", "hashed_ip", "header", "user_agent", "source", "metadata"),
    *("finish_reason", "stop_reason", "usage", "annotations", "openai_moderation", "detoxify_moderation"),
}
# Columns next to an answer that belong to the conversation, which no text of a pair shows
BESIDES = {
    *("images", "image", "videos", "video", "audios", "audio", "tools", "functions", "documents"),
    "history",
}
EMPTY = ("", "[]", "{}", "null", "None")  # texts that say that a column holds nothing
IGNORED = re.compile("[\u00ad\u200b\u2060\ufeff]")  # characters of a name that print as nothing
RESERVED = "all items"  # the name of the row over all subsets in tables of accuracies
# How messages look that were written as text, by JSON, by JSON once more, by Python or by numpy: with a role
# that is known here, or any role and a content
_QUOTE = r"""\\*["']"""
_ROLE = rf"{_QUOTE}(?:role|from){_QUOTE}\s*:\s*{_QUOTE}"
_KNOWN = "|".join((*KNOWN_AS, "function"))
AS_TEXT = re.compile(
    rf"\s*(?:array\(|[\"\\])*\s*\[?\s*\{{\s*(?={_QUOTE})"
    rf"(?:(?=.*{_ROLE}(?:{_KNOWN}){_QUOTE})|(?=.*{_ROLE})(?=.*{_QUOTE}(?:content|value){_QUOTE}\s*:))",
    re.DOTALL | re.IGNORECASE,
)
ARRAY = re.compile(r"\s*array\((.*?)(?:,\s*dtype=[\w.'\"<>]+)?\s*\)\s*", re.DOTALL)


class UnfitRow(Exception):  # noqa: N818 - of a row, not of the file
    """A row that cannot be read as a pair, and how to fix it."""


class LeftOut(Exception):  # noqa: N818 - nothing is wrong with such a row
    """Why a valid row makes no pair, such as a tie."""


def message_list(value: object, column: str) -> object:
    """Return a column's messages as `[{role, content}]` with the usual role names; other values unchanged.

    Accepts messages as text, ShareGPT's from and value, contents in text parts, and a dict of lists, as
    datasets keeps a sequence of messages.

    Raises:
        UnfitRow: a message is incomplete, or holds something that its text does not show.
    """
    if isinstance(value, str) and AS_TEXT.match(value):
        value = _messages_in(value, column)
    if isinstance(value, dict):
        value = _rows_of(value) or [value]
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return value
    return [_message(turn, column, number) for number, turn in enumerate(value, 1)]


def _rows_of(columns: dict) -> list[dict] | None:
    """Return the messages of {key: list}; None where it is no such dict."""
    lists = [value for value in columns.values() if isinstance(value, list)]
    parts = columns.get("content", columns.get("value"))  # also a list where one message has several parts
    if len(lists) < len(columns) or len(set(map(len, lists))) != 1 or not isinstance(parts, list):
        return None
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _messages_in(text: str, column: str) -> object:
    """Return the messages that a text is; the text where it is another object that names roles."""
    found = structure_in(text)
    if found is None:
        raise UnfitRow(
            f"`{column}`: holds a message list as text that cannot be read (pandas writes lists so); save as"
            " Parquet or JSON"
        )
    turns = found if isinstance(found, list) else [found]
    return found if any(isinstance(turn, dict) and {"role", "from"} & set(turn) for turn in turns) else text


def structure_in(text: str) -> list | dict | None:
    """Return the list or object that a text is, as JSON, Python or numpy write it; None where it is none."""
    text = text.strip()
    if not text.startswith(("[", "{", '"', "array(")):
        return None
    array = ARRAY.fullmatch(text)
    for parse in (parsed_json,) if text.startswith('"') else (parsed_json, ast.literal_eval):
        try:
            found = parse(array[1] if array else text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, str):
            return structure_in(found)
        return found if isinstance(found, list | dict) else None
    return None


def is_list_as_text(text: object) -> bool:
    """Return whether a text is a list of texts, or messages without a role, as pandas writes CSV."""
    found = structure_in(text) if isinstance(text, str) else None
    parts = found if isinstance(found, list) else [found]
    return bool(found) and all(isinstance(one, str) or _only_content(one) for one in parts)


def _only_content(value: object) -> bool:
    return isinstance(value, dict) and bool({"content", "value"} & set(value)) and set(value) <= HARMLESS


def _message(turn: object, column: str, number: int) -> Message:
    if not isinstance(turn, dict):
        raise UnfitRow(f"`{column}`: message {number} is {shown(turn)}; write {{role, content}}")
    role, content = turn.get("role"), turn.get("content")
    if len(turn) == 2 and isinstance(content, str) and isinstance(role, str) and role in KNOWN_AS:
        return {"role": KNOWN_AS[role], "content": content}  # nearly every message: the rest takes its time
    role, content = turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))
    if not turn.keys() <= HARMLESS:
        for key, value in turn.items():
            if key not in HARMLESS and value and not isinstance(value, int | float):
                raise UnfitRow(
                    f"`{column}`: message {number} has `{key}`, which is not scored; move it into `content`"
                    " or drop it"
                )
    if isinstance(content, list):
        content = _text_of(content, column, number)
    if not isinstance(role, str) or not isinstance(content, str):
        raise UnfitRow(f"`{column}`: message {number} has no `role` or no `content`; give both, as text")
    return {"role": KNOWN_AS.get(role) or KNOWN_AS.get(role.lower(), role), "content": content}


def _text_of(parts: list, column: str, number: int) -> str:
    texts = [
        part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None
        for part in parts
    ]
    if not all(isinstance(text, str) for text in texts):
        named = {str(part.get("type")) for part in parts if isinstance(part, dict)} - {"text"}
        kinds = f" ({', '.join(sorted(named))[:60]})" if named else ""
        raise UnfitRow(
            f"`{column}`: message {number} has parts that are no text, such as an image{kinds}; leave the row"
            " out"
        )
    return "".join(texts)


def shown(value: object) -> str:
    """Return the beginning of a value as an error shows it."""
    return json.dumps(value, default=str, ensure_ascii=False)[:80]


def split_answer(
    value: object, column: str, like: object = None, before: list[Message] | None = None
) -> tuple[list[Message] | None, str]:
    """Split off an answer: (the turns before it, or None; the answer).

    like: another conversation, of which `before` are the turns. The same turns are not read again."""
    if before and isinstance(value, list) and isinstance(like, list) and value[:-1] == like[:-1] and value:
        value = [*before, _message(value[-1], column, len(value))]
    else:
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
    first = split_answer(chosen, "chosen")
    others = [
        split_answer(one, "rejected", chosen, first[0]) for one in (rejected if several else [rejected])
    ]
    answers = [first, *others]
    prompt = message_list(prompt, "prompt")
    turns = [before for before, _ in answers if before]
    alike = all(before == answers[0][0] for before, _ in answers)
    if prompt and alike and turns and turns[0][0]["role"] == "system":
        asked = as_turns(prompt)
        if asked[0].get("role") != "system" and stripped(turns[0][1:]) == stripped(asked):
            prompt = turns[0]  # only the answers have the system turn
    if prompt:
        if any(stripped(before) != stripped(as_turns(prompt)) for before in turns):
            raise UnfitRow("an answer has other messages before it than `prompt`; correct one of the two")
    elif not alike:
        raise UnfitRow(
            "the conversations differ before their last message; give both the same turns before it"
        )
    else:
        prompt = turns[0] if turns else None
    texts = [text for _, text in answers]
    named = {key: name_of(names.get(key), key) for key in NAMES}
    found = {**named, "prompt": prompt, "chosen": texts[0], "rejected": texts[1:] if several else texts[1]}
    _check_characters(found)
    return found


def _check_characters(found: dict) -> None:
    asked = found["prompt"] if isinstance(found["prompt"], list) else [{"content": found["prompt"]}]
    texts = [("prompt", turn.get("content")) for turn in asked if isinstance(turn, dict)]
    texts += [(role, text) for role in ("chosen", "rejected") for text in _texts(found[role])]
    for key, text in texts:
        if isinstance(text, str) and _has_half_character(text):
            raise UnfitRow(
                f"`{key}` has half of a character (an unpaired surrogate, \\ud800 to \\udfff); correct that"
                " text, or leave the row out"
            )


def _has_half_character(text: str) -> bool:
    try:
        text.encode()  # several times as fast as a search for them
    except UnicodeEncodeError:
        return True
    return False


def _texts(answers: object) -> list:
    return answers if isinstance(answers, list) else [answers]


def with_system(found: dict, system: object) -> dict:
    """Return a pair with the text of a column `system` as the first turn of its prompt."""
    if system is None or (isinstance(system, str) and not system.strip()) or not found["prompt"]:
        return found
    if not isinstance(system, str):
        raise UnfitRow(f"`system` is {shown(system)}, not a text; give the system turn as text")
    turns = as_turns(found["prompt"])
    if turns[0].get("role") != "system":
        return {**found, "prompt": [{"role": "system", "content": system}, *turns]}
    if str(turns[0].get("content")).strip() != system.strip():
        raise UnfitRow("`system` and the system turn of `prompt` differ; delete one of the two")
    return found


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
    if isinstance(value, int):
        return str(value)
    text = " ".join(IGNORED.sub("", unicodedata.normalize("NFC", str(value))).split())
    if HIDDEN.search(text):
        raise UnfitRow(f"`{key}` has invisible characters ({printable(text)[:80]}); delete them")
    if key == "subset" and text == RESERVED:
        raise UnfitRow(f"`subset` is `{RESERVED}`, which is the name of all of them together; choose another")
    return text or None
