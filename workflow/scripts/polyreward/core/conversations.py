"""Turn a prompt and an answer into token ids, the same way for training and scoring."""

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
    """A chat template that cannot show a conversation, such as one with a system turn."""


def as_messages(prompt: str | Messages, answer: str) -> list[dict[str, str]]:
    """Return a conversation: a prompt (text or messages), then an assistant's answer."""
    return [*as_turns(prompt), {"role": "assistant", "content": answer}]


def as_turns(prompt: str | Messages) -> list[dict[str, str]]:
    """Return the messages of a prompt; a text is one of the user's."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)


def as_text(prompt: str | Messages) -> str:
    """Return a prompt as readable text, a "role: content" per message."""
    if isinstance(prompt, str):
        return prompt
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in prompt)


def contents(prompt: str | Messages) -> list[str]:
    """Return the text of a prompt, or the content of each of its messages."""
    return [turn["content"] for turn in as_turns(prompt)]


def rejected_of(row: dict) -> list[str]:
    """Return the rejected answers of a pair: its one, or its several."""
    return [row["rejected"]] if isinstance(row["rejected"], str) else list(row["rejected"])


def map_texts(prompt: str | Messages, change: Callable[[str], str]) -> str | list[dict[str, str]]:
    """Return a prompt with `change` applied to each of its texts in order."""
    if isinstance(prompt, str):
        return change(prompt)
    return [{**turn, "content": change(turn["content"])} for turn in prompt]


def conversation_ids(
    tokenizer, prompt: str | Messages, answer: str, max_length: int
) -> tuple[list[int], bool]:
    """Return the last max_length ids of a conversation by the chat template, and whether any were cut."""
    ids = rendered(tokenizer, as_messages(prompt, answer))
    return ids[-max_length:], len(ids) > max_length


def rendered(tokenizer, turns: Messages, **options) -> list[int]:
    """Return messages as ids by the chat template; raise TemplateRefusalError where it refuses them."""
    turns = list(turns)
    try:
        return tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, **options)["input_ids"]
    except TemplateError as error:  # such as raise_exception("no system turn")
        begin = turns[0]["content"][:60]
        raise TemplateRefusalError(
            f"the model's chat template refuses the conversation that begins `{begin}` ({error}); fold a"
            " system turn into the first user turn, or leave the row out"
        ) from error


def answer_header(tokenizer) -> list[int]:
    """Return the tokens that the chat template writes between a prompt and its answer.

    Raises PolyrewardError where it writes none, or others once the answer is there."""
    turns, answer = [{"role": "user", "content": "a"}], {"role": "assistant", "content": "a"}
    prompt, asked = rendered(tokenizer, turns), rendered(tokenizer, turns, add_generation_prompt=True)
    whole = rendered(tokenizer, [*turns, answer])
    if asked[: len(prompt)] != prompt or len(asked) == len(prompt) or whole[: len(asked)] != asked:
        raise PolyrewardError(
            "the chat template has no header of its own before an answer, so the reward cannot be pooled over"
            " the answer's tokens; set reward_model.pooling to last"
        )
    return asked[len(prompt) :]


def pin_date(tokenizer) -> bool:
    """Make a chat template print TODAY instead of the current date; return whether it changed."""
    before = tokenizer.chat_template
    if isinstance(before, dict):  # several, by name
        tokenizer.chat_template = {name: _dated(template) for name, template in before.items()}
    elif before:
        tokenizer.chat_template = _dated(before)
    return tokenizer.chat_template != before


def _dated(template: str) -> str:
    return ASKS_DATE.sub(lambda asked: repr(TODAY.strftime(asked[2])), template)


def answer_start(tokenizer, prompt: str | Messages, ids: Sequence[int]) -> int:
    """Return the position of the answer's first token in `ids`, the untruncated conversation: the length of
    the prefix that it shares with the prompt under the generation prompt."""
    prefix = rendered(tokenizer, as_turns(prompt), add_generation_prompt=True)
    shared = 0
    while shared < min(len(prefix), len(ids)) and prefix[shared] == ids[shared]:
        shared += 1
    return shared
