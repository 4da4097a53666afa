"""Files of preference pairs outside the catalogs, in any common layout and format."""

import contextlib
import dataclasses
import gc
from collections.abc import Iterator
from itertools import count, groupby, islice
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import announce
from polyreward.prepare.pair_layouts import Layout, find_layout
from polyreward.prepare.pair_shape import LeftOut, UnfitRow, is_list_as_text
from polyreward.prepare.pool import row_problems
from polyreward.prepare.row_files import file_rows, holds_no_lists

PROBLEMS = 20  # of one file that are listed
EXAMPLES = 10  # ids or places that are listed of rows with one remark


@dataclasses.dataclass(frozen=True)
class PairFile:
    """The content of a file of pairs.

    Attributes:
        rows: its pairs, as from pair_layouts.
        left_out: {reason: places of valid rows without a pair}.
        unused: columns that are not read.
        remarks: other lines about it.
    """

    path: str
    layout: str
    rows: list[dict]
    n_read: int
    left_out: dict[str, list[str]]
    unused: list[str]
    remarks: list[str]

    def summary(self) -> str:
        """Summarise what was read, left out and not used, with reasons."""
        lines = [f"{self.path}: {self.n_read} rows, layout {self.layout}, {len(self.rows)} pairs"]
        for reason, places in self.left_out.items():
            short = [_short(place, self.path) for place in places]
            lines.append(f"  {len(places)} left out: {reason} ({examples_of(short)})")
        if self.unused:
            lines.append(f"  not used: {', '.join(self.unused)}")
        lines += [f"  {remark}" for remark in self.remarks]
        return "\n".join(lines)


def examples_of(names: list[str]) -> str:
    """Return the first EXAMPLES names."""
    return ", ".join(names[:EXAMPLES]) + (", ..." if len(names) > EXAMPLES else "")


def read_pairs(path: str | Path, limit: int | None = None, layout: str | None = None) -> list[dict]:
    """Return the pairs of a file, and log its summary; arguments as in read_pair_file."""
    found = read_pair_file(path, limit, layout)
    announce(found.summary())
    return found.rows


@contextlib.contextmanager
def _cycles_left() -> Iterator[None]:
    """Pause Python's search for cycles. Rows have none, and searching them takes a quarter of the reading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_cycles_left()
def read_pair_file(path: str | Path, limit: int | None = None, layout: str | None = None) -> PairFile:
    """Read a file of preference pairs and check every row.

    A missing id becomes the row's number, and a missing subset `all`.

    Args:
        path: as for row_files.file_rows.
        limit: number of first rows to read; None for all.
        layout: a name in pair_layouts.LAYOUTS; None to detect it from the columns.

    Raises:
        PolyrewardError: lists every bad row with its place.
    """
    given = list(islice(file_rows(path), None if limit is None else max(limit, 1)))
    if not given:
        raise PolyrewardError(
            f"{path}: holds no row; give one pair a row: id, subset, prompt, chosen, rejected"
        )
    problems = [f"{place}: {row}" for place, row in given if isinstance(row, str)]
    raw = [(place, row) for place, row in given if isinstance(row, dict)]
    try:
        how = find_layout(raw[0][1], layout) if raw else None
    except PolyrewardError as error:
        raise PolyrewardError(f"{path}: {error}") from None
    rows, places, seen, left_out = [], [], {}, {}
    for place, found in pairs_of(raw, how) if how else ():
        if isinstance(found, LeftOut):
            left_out.setdefault(str(found), []).append(place)
        elif isinstance(found, UnfitRow):
            problems.append(f"{place}: {found}")
        else:
            for one in found:
                row = {**one, "id": one["id"] or str(len(rows) + 1), "subset": one["subset"] or "all"}
                problems += [f"{place}: {text}" for text in row_problems(row, several=True)]
                if how.by_prompt and row["id"] in seen:
                    names = (f"{row['id']}-{number}" for number in count(2))
                    row["id"] = next(name for name in names if name not in seen)
                if row["id"] in seen:
                    first = _short(seen[row["id"]], path)
                    problems.append(f"{place}: id `{row['id']}` is also in {first}; give each row its own")
                seen[row["id"]] = place
                rows.append(row)
                places.append(place)
    no_prompt = how and "prompt" in how.columns and not any("prompt" in row for _, row in raw)
    if no_prompt and any("`prompt` is empty" in problem for problem in problems):
        listed = ", ".join(f"`{column}`" for column in dict.fromkeys(key for _, row in raw for key in row))
        raise PolyrewardError(
            f"{path}: has no column `prompt`, and its answers have no turns before them; it has {listed}."
            " Rename the one with the request to prompt"
        )
    raise_all(problems, str(path), PROBLEMS)
    if not rows:
        reasons = "; ".join(f"{len(places)} rows: {reason}" for reason, places in left_out.items())
        raise PolyrewardError(f"{path}: holds no pair ({reasons}); give rows in which one answer is better")
    lists = _lists_as_text(path, rows, places)
    columns = dict.fromkeys(key for _, row in raw for key, value in row.items() if value is not None)
    unused = [column for column in columns if column not in how.columns]
    return PairFile(str(path), how.name, rows, len(given), left_out, unused, lists)


def _lists_as_text(path: str | Path, rows: list[dict], places: list[str]) -> list[str]:
    """Return a remark for each column with answers that are lists written as text.

    Raises:
        PolyrewardError: the format has no lists, so that they may be meant, or every row has one.
    """
    remarks = []
    for key in ("prompt", "chosen", "rejected"):
        found = [place for place, row in zip(places, rows, strict=True) if is_list_as_text(row[key])]
        if not found:
            continue
        where = examples_of([_short(place, path) for place in found])
        said = f"`{key}` is a list that was written as text in {len(found)} of {len(rows)} pairs ({where})"
        if holds_no_lists(path) or (len(found) == len(rows) and key != "prompt"):
            raise PolyrewardError(
                f"{path}: {said}, as pandas writes CSV; save as Parquet or JSON. If such a text is the"
                " answer, write JSON with a list around it"
            )
        remarks.append(f"{said}; taken as plain text")
    return remarks


def pairs_of(
    rows: list[tuple[str, dict]], layout: Layout
) -> Iterator[tuple[str, list[dict] | LeftOut | UnfitRow]]:
    """Yield each row's place, and its pairs or why it makes none; of rows that belong together once."""
    units = ([one] for one in rows)
    if layout.together:
        units = (list(group) for _, group in groupby(rows, key=lambda one: one[1].get(layout.together)))
    for unit in units:
        place = unit[0][0]
        try:
            yield place, layout.pairs([row for _, row in unit])
        except (LeftOut, UnfitRow) as error:
            yield place, error


def _short(place: str, path: str | Path) -> str:
    inside = place.removeprefix(f"{path}:").strip()
    return f"line {inside}" if inside.isdigit() else inside
