"""From a prompt and an answer to token ids: the one way, for training and for scoring."""

import re
from collections.abc import Callable, Sequence
from datetime import date

from jinja2 import TemplateError

from polyreward.core.errors import PolyrewardError

Messages = Sequence[dict[str, str]]
# Templates that print today's date get this one, so that a conversation has the same tokens every day. It is
# the date that Llama 3.2's template falls back on.
TODAY = date(2024, 7, 26)
ASKS_DATE = re.compile(r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""")


class TemplateRefusalError(PolyrewardError):
    """A model's chat template cannot show a conversation, such as one with a system turn."""


def as_messages(prompt: str | Messages, answer: str) -> list[dict[str, str]]:
    """Return the conversation of a prompt (text or a message list) with an assistant's answer at its end."""
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    return [*turns, {"role": "assistant", "content": answer}]


def as_text(prompt: str | Messages) -> str:
    """Return a prompt as a person would read it: a text as it is, a message list with one "role: content" per
    message."""
    return (
        prompt
        if isinstance(prompt, str)
        else "\n".join(f"{turn['role']}: {turn['content']}" for turn in prompt)
    )


def contents(prompt: str | Messages) -> list[str]:
    """Return the texts of a prompt: the one that it is, or the content of each message."""
    return [prompt] if isinstance(prompt, str) else [turn["content"] for turn in prompt]


def with_each(prompt: str | Messages, change: Callable[[str], str]) -> str | list[dict[str, str]]:
    """Return a prompt with `change` done to each of its texts, in their order; roles stay."""
    return (
        change(prompt)
        if isinstance(prompt, str)
        else [{**turn, "content": change(turn["content"])} for turn in prompt]
    )


def conversation_ids(
    tokenizer, prompt: str | Messages, answer: str, max_length: int
) -> tuple[list[int], bool]:
    """Tokenise a conversation with the tokenizer's own chat template, truncated on the left.

    max_length: tokens kept, counted from the end, so that the answer survives. Returns (ids, was it
    truncated)."""
    ids = _rendered(tokenizer, as_messages(prompt, answer))
    return ids[-max_length:], len(ids) > max_length


def _rendered(tokenizer, turns: list[dict[str, str]], **options) -> list[int]:
    try:
        return tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, **options)["input_ids"]
    except TemplateError as error:  # such as raise_exception("no system turn")
        begin = turns[0]["content"][:60]
        raise TemplateRefusalError(
            f"the model's chat template refuses the conversation that begins `{begin}` ({error}); fold a system"
            " turn into the first user turn, or leave the row out"
        ) from error


def pin_date(tokenizer) -> bool:
    """Let a tokenizer's chat template print TODAY where it would print the date of the day; returns whether
    it changed."""
    before = tokenizer.chat_template
    if isinstance(before, dict):  # several, by name
        tokenizer.chat_template = {name: _dated(template) for name, template in before.items()}
    elif before:
        tokenizer.chat_template = _dated(before)
    return tokenizer.chat_template != before


def _dated(template: str) -> str:
    return ASKS_DATE.sub(lambda asked: repr(TODAY.strftime(asked[2])), template)


def answer_start(tokenizer, prompt: str | Messages, ids: Sequence[int]) -> int:
    """Return the position of the answer's first token in `ids`, the untruncated conversation.

    It is the length of the shared prefix with the prompt's own tokens under the generation prompt."""
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    prefix = _rendered(tokenizer, turns, add_generation_prompt=True)
    shared = 0
    while shared < min(len(prefix), len(ids)) and prefix[shared] == ids[shared]:
        shared += 1
    return shared
