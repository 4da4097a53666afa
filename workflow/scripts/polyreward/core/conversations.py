"""Turn a prompt and an answer into token ids, the same way for training and scoring."""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from jinja2 import TemplateError

from polyreward.core.errors import PolyrewardError, lacks_memory

Messages = Sequence[dict[str, str]]
ROLES = ("system", "developer", "user", "assistant", "tool")  # of messages, as chat templates know them
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
    with _refusals(turns):
        options = {"tokenize": True, "return_dict": True, **options}
        return tokenizer.apply_chat_template(list(turns), **options)["input_ids"]


def rendered_text(tokenizer, turns: Messages, **options) -> str:
    """Return messages as text by the chat template; raise TemplateRefusalError where it refuses them."""
    with _refusals(turns):
        return tokenizer.apply_chat_template(list(turns), tokenize=False, **options)


@contextlib.contextmanager
def _refusals(turns: Messages) -> Iterator[None]:
    try:
        yield
    except TemplateError as error:  # such as raise_exception("no system turn")
        raise TemplateRefusalError(
            f"the model's chat template refuses the conversation that begins `{_begin(turns)}` ({error});"
            " fold a system turn into the first user turn, or leave the row out"
        ) from error
    except Exception as error:  # a template's own code and a tokenizer raise what they like
        if lacks_memory(error):
            raise
        raise TemplateRefusalError(
            f"the model's chat template or tokenizer fails on the conversation that begins `{_begin(turns)}`"
            f" ({type(error).__name__}: {str(error)[:200]}); correct the template, or leave the row out"
        ) from error


def _begin(turns: Messages) -> str:
    return str(turns[0]["content"])[:60] if turns else ""


def lost_turns(tokenizer, roles: Sequence[str]) -> set[int]:
    """Return the numbers of the turns that the chat template leaves out of a conversation of these roles.

    None where it refuses our made-up texts, since it may not refuse the real ones."""
    texts = [f"zq{number}qz" for number in range(len(roles))]
    turns = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    try:
        shown = rendered_text(tokenizer, turns)
    except TemplateRefusalError:
        return set()
    return {number for number, text in enumerate(texts) if text not in shown}


def shown_whole(tokenizer, turns: Messages) -> bool:
    """Return whether the chat template writes the whole text of each turn; white space does not count."""
    shown = "".join(rendered_text(tokenizer, turns).split())
    return all("".join(turn["content"].split()) in shown for turn in turns)


def generation_header(tokenizer) -> str:
    """Return the text that the chat template adds for the next answer; empty where it adds none."""
    turns = [{"role": "user", "content": "a"}]
    try:
        asked = rendered_text(tokenizer, turns, add_generation_prompt=True)
        return asked.removeprefix(rendered_text(tokenizer, turns))
    except TemplateRefusalError:
        return ""


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


def place_after(
    tokenizer, prompt: str | Messages, header: Sequence[int], ids: Sequence[int], removed: int
) -> int | None:
    """Return where the answer begins in `ids`, a conversation; None where it is after the last header.

    removed: tokens that were cut off its left. The prompt is rendered only where some were, or where the
    header is there more often than the prompt's turns explain, as in an answer that holds a conversation."""
    known = 1 + sum(turn["role"] == "assistant" for turn in as_turns(prompt))
    if not removed and min(map(ids.count, set(header))) <= known:
        return None
    prefix = rendered(tokenizer, as_turns(prompt), add_generation_prompt=True)[removed:]
    return len(prefix) if list(ids[: len(prefix)]) == prefix[: len(ids)] else None
