"""Tables on the page: text cells, numeric columns, and heads."""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import fromstring

from polyreward.artifacts.renderings import plain_display
from polyreward.core.tables import read_csv

NUMBER = re.compile(r"[+\u2212<-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?\s*(%|±.*|\[.*\]|\(.*\))?")


@dataclass(frozen=True)
class Table:
    """A table to show, in text cells.

    above: [(head, columns that it spans)] for each row of heads but the last. numeric: whether all cells of a
    column start with a number."""

    above: list[list[tuple[str, int]]]
    heads: list[str]
    rows: list[list[str]]
    numeric: list[bool]


def table_of(above: list[list[tuple[str, int]]], heads: list[str], rows: list[list[str]]) -> Table:
    """Return a table to show."""
    columns = zip(*rows, strict=True) if rows else [[] for _ in heads]
    filled = [[cell for cell in column if cell] for column in columns]
    numeric = [bool(cells) and all(map(NUMBER.fullmatch, cells)) for cells in filled]
    return Table(above, heads, rows, numeric)


def read_csv_table(path: Path) -> Table:
    """Read a CSV file as a table to show, numbers with one digit after the point."""
    shown = plain_display(read_csv(path))
    return table_of([], list(shown.columns), shown.to_numpy().tolist())


def read_rendered(path: Path) -> Table:
    """Read the table of a page that artifacts.renderings.write_html wrote, as text."""
    _, start, rest = path.read_text(encoding="utf-8").partition("<table")
    table = fromstring(start + rest.partition("</table>")[0] + "</table>")
    *above, last = [
        [("".join(cell.itertext()), int(cell.get("colspan", 1))) for cell in row]
        for row in table.iterfind("thead/tr")
    ]
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iterfind("tbody/tr")]
    return table_of(above, [text for text, _ in last], rows)
