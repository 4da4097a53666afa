"""Tables on the page: text cells, numeric columns, and heads."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from polyreward.artifacts.renderings import plain_display

MOST_ROWS = 2000  # of a table on the page; its file has all
NUMBER = re.compile(r"[+\u2212-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?\s*(%|±.*|\[.*\]|\(.*\))?")


@dataclass(frozen=True)
class Table:
    """A table to show.

    Attributes:
        above: [(head, columns that it spans)] for each row of heads but the last.
        heads: one for each column.
        rows: text cells.
        numeric: whether all cells of a column start with a number.
        n_rows: number of rows before the cut.
    """

    above: list[list[tuple[str, int]]]
    heads: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    n_rows: int


def table_of(above: list[list[tuple[str, int]]], heads: list[str], rows: list[list[str]]) -> Table:
    """Return a table to show, cut to MOST_ROWS."""
    columns = zip(*rows, strict=True) if rows else [[] for _ in heads]
    filled = [[cell for cell in column if cell] for column in columns]
    numeric = [bool(cells) and all(map(NUMBER.fullmatch, cells)) for cells in filled]
    return Table(above, heads, rows[:MOST_ROWS], numeric, len(rows))


def read_csv_table(path: Path) -> Table:
    """Read a CSV file as a table to show, numbers with one digit after the point."""
    shown = plain_display(pd.read_csv(path))
    return table_of([], list(shown.columns), shown.to_numpy().tolist())


def read_rendered(path: Path) -> Table:
    """Read the table of a page that artifacts.renderings.write_html wrote, as text."""
    reader = _Rendered()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    *above, last = reader.head_rows
    return table_of(above, [text for text, _ in last], reader.rows)


class _Rendered(HTMLParser):
    """Parser of a page's table: head_rows [[(text, span)]], rows [[text]]."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.head_rows: list[list[tuple[str, int]]] = []
        self.rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._span, self._in_head = 1, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr":
            (self.head_rows if self._in_head else self.rows).append([])
        elif tag in ("th", "td"):
            self._cell, self._span = [], int(dict(attrs).get("colspan") or 1)

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self._cell is not None:
            text = "".join(self._cell)
            if self._in_head:
                self.head_rows[-1].append((text, self._span))
            else:
                self.rows[-1].append(text)
            self._cell = None
