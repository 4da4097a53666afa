"""Tables on the page: text cells, numeric columns, and heads."""

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.etree.ElementTree import fromstring

from polyreward.artifacts.renderings import plain_display
from polyreward.core.tables import read_csv

AVERAGE = re.compile(r"avg\b|average\b|overall\b", re.IGNORECASE)  # the head of the number that matters
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
    return _average_first(Table(above, heads, rows, numeric))


def _average_first(table: Table) -> Table:
    """Put averages before the other numbers, each within the columns of its head above."""
    above = [[text for text, span in heads for _ in range(span)] for heads in table.above]
    groups, place = [], 0
    for _, span in table.above[-1] if table.above else [("", len(table.heads))]:
        groups.append(range(place, place + span))
        place += span

    def moved(group: range) -> list[int]:
        first = [column for column in group if table.numeric[column] and AVERAGE.match(table.heads[column])]
        others = [column for column in group if column not in first]
        place = next((n for n, column in enumerate(others) if table.numeric[column]), len(others))
        return [*others[:place], *first, *others[place:]]

    order = [column for group in groups for column in moved(group)]
    spans = [groupby(row[column] for column in order) for row in above]
    return Table(
        [[(text, len(list(same))) for text, same in row] for row in spans],
        [table.heads[column] for column in order],
        [[row[column] for column in order] for row in table.rows],
        [table.numeric[column] for column in order],
    )


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
