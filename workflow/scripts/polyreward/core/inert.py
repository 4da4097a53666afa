"""Make texts from elsewhere harmless where they are shown: in a terminal, a spreadsheet or Markdown."""

import re

# Control characters but tab and line feed, and those that turn the direction of what follows.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # as JSON's \ud800 gives one: no file can hold it
# A cell that a spreadsheet takes for a formula, unless it is only arithmetic: -0.26 [-0.33, -0.20]
FORMULA = re.compile(r"(?=[=+\-@\t\n])(?![+-][\d\s.,:;%e()\[\]\u00b1+-]*\Z)")
QUOTED = re.compile(r"'[=+\-@\t\n]")


def printable(text: str) -> str:
    """Return a text in which a terminal acts on tabs and line feeds only; others are written as \\x1b."""
    return HALF_CHARACTER.sub(_escaped, HIDDEN.sub(_escaped, text))


def _escaped(found: re.Match) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def for_spreadsheets(cell: object) -> object:
    """Return a cell; a text that a spreadsheet would run as a formula gets a ' in front, which it hides.

    A carriage return, which would begin another row, becomes a line feed."""
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n") if "\r" in cell else cell
    return f"'{text}" if FORMULA.match(text) else text


def from_spreadsheets(cell: object) -> object:
    """Undo for_spreadsheets."""
    return cell[1:] if isinstance(cell, str) and QUOTED.match(cell) and FORMULA.match(cell[1:]) else cell


def for_markdown(text: str) -> str:
    """Return text for a cell of a Markdown table, without tags, links or cell ends."""
    return text.replace("<", "&lt;").replace("](", r"]\(").replace("|", r"\|").replace("\n", " ")
