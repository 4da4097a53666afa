"""Texts of a benchmark as a page shows them: long ones cut, so that the page stays small."""

from dataclasses import dataclass

MOST_CHARACTERS = 1500  # of a text; some of RewardBench's are whole essays


@dataclass(frozen=True)
class Text:
    """The start of a text, and how many of its characters are left out."""

    shown: str
    n_left_out: int


def cut(text: str) -> Text:
    """Return a text as it is, or its first MOST_CHARACTERS where it is longer."""
    return Text(text[:MOST_CHARACTERS], max(0, len(text) - MOST_CHARACTERS))
