"""Which of four options a reply chooses."""

import re
from collections.abc import Sequence

from polyreward.carb.downstream.points import LETTERS
from polyreward.carb.items.answers import plain, says

# A letter that stands for an option: at the start ("B", "B.", "(B)", "**B**"), or marked so further on ("is
# (B)", "is B.")
FIRST = re.compile(rf"^[\W_]*([{LETTERS}])(?=[\W_]|$)")
MARKED = re.compile(rf"(?<![^\W_])(?:[(\[（*_]+([{LETTERS}])[)\]）*_]+|([{LETTERS}])(?=[.)）:：]|\s*$))")


def chosen_option(reply: str, options: Sequence[str]) -> int | None:
    """Return the number of the option that a reply chooses, from 0; None where it names none, or several.

    A letter at its start counts first, unless it begins a sentence of other words ("A common one"); then one
    letter marked as an option anywhere; then the one option whose text the reply says, as answers.says has
    it."""
    by_text = [
        number
        for number, option in enumerate(options)
        if plain(reply) == plain(option) or says(reply, option)
    ]
    first = FIRST.match(reply.strip())
    if first and (_ends_or_marks(reply.strip()[first.end() :]) or by_text == [LETTERS.index(first[1])]):
        return LETTERS.index(first[1])
    marked = {letter for found in MARKED.findall(reply.strip()) for letter in found if letter}
    if len(marked) == 1:
        return LETTERS.index(marked.pop())
    return by_text[0] if len(by_text) == 1 and not marked else None


def _ends_or_marks(rest: str) -> bool:
    """Return whether what follows a letter says that the letter stood by itself: nothing, a mark, or a new
    line."""
    return not rest.strip() or rest[0] in "\n.)]）:：,、，。*_"
