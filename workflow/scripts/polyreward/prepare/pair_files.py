"""Files of preference pairs that belong to no catalog: JSON Lines, JSON, CSV or Parquet, by suffix."""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import json_rows, parsed_json
from polyreward.prepare.pair_layouts import UnfitRow, as_pair, is_conversation
from polyreward.prepare.pool import row_problems

NEEDED = ("chosen", "rejected")
FIELDS = (
    "id",
    "subset",
    "category",
    "template",
    "prompt",
    *NEEDED,
)  # what is read of a table; others, such as `chosen_model`, are not

RawRow = tuple[str, dict | str]  # the row's place, and the row or in words what is wrong with it


def read_pairs(path: str | Path, limit: int | None = None) -> list[dict]:
    """Read a file of pairs by its suffix; any subset is fine, and a missing id is the row's number.

    limit: read the first so many rows alone; None for all. `chosen` is a text, or a message list that ends
    with the answer; so is `rejected`, which may be a list of these, too. Where whole conversations come
    without a `prompt`, what they share before their last message is the prompt. A number as an id becomes
    text. Raises PolyrewardError that lists every bad row."""
    rows, problems, seen = [], [], {}
    for number, (place, found) in enumerate(islice(_raw_rows(Path(path)), limit), 1):
        if isinstance(found, str):
            problems.append(f"{place}: {found}")
            continue
        try:
            row = as_pair(found, number)
        except UnfitRow as error:
            problems.append(f"{place}: {error}")
            continue
        problems += [f"{place}: {text}" for text in row_problems(row, several=True)]
        first = seen.setdefault(str(row["id"]), place)
        if first != place:
            problems.append(
                f"{place}: id `{row['id']}` is that of {_in_words(first, path)}, too; ids are unique"
            )
        rows.append(row)
    if not rows and not problems:
        raise PolyrewardError(
            f"{path}: holds no row; give one pair a row: id, subset, prompt, chosen, rejected"
        )
    raise_all(problems, str(path))
    return rows


def _raw_rows(path: Path) -> Iterator[RawRow]:
    if not path.is_file():
        raise PolyrewardError(f"{path}: no such file; correct the path")
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise PolyrewardError(
            f"{path}: `{suffix}` is no format that is read here; save it as one of"
            f" {', '.join(filter(None, READERS))}"
        )
    return READERS[suffix](path)


def _csv_rows(path: Path) -> Iterator[RawRow]:
    csv.field_size_limit(sys.maxsize)  # an answer may be longer than the 128 KiB that the module allows
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            _check_columns(path, reader.fieldnames or [])
            before = reader.line_num
            for cells in reader:
                place, before = f"{path}:{before + 1}", reader.line_num
                if None in cells:
                    yield (
                        place,
                        "has more cells than there are columns; quote a cell that has a comma or a quote",
                    )
                else:
                    yield place, {key: _cell(cells[key]) for key in FIELDS if key in cells}
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{path}: not UTF-8 (byte {error.start}); save the file in UTF-8") from error
    except csv.Error as error:
        raise PolyrewardError(f"{path}: not CSV ({error}); save it again") from error


def _cell(text: str | None) -> str | list | None:
    """Return a cell's text, the message list that it holds as JSON, or None where it is empty."""
    if text and text.lstrip().startswith("["):
        try:
            found = parsed_json(text)
        except ValueError:
            return text
        return found if is_conversation(found) else text
    return text or None


def _parquet_rows(path: Path) -> Iterator[RawRow]:
    import pyarrow as pa  # who reads no Parquet waits for no pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_columns(path, names)
            batches = file.iter_batches(batch_size=1000, columns=[name for name in FIELDS if name in names])
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))
    except (pa.ArrowException, OSError) as error:
        raise PolyrewardError(f"{path}: not a Parquet file ({error}); save it again") from error


def _check_columns(path: Path, names: Sequence[str]) -> None:
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise PolyrewardError(
            f"{path}: has no column {' or '.join(missing)}; rename one of {', '.join(names) or 'none'}"
        )


READERS: dict[str, Callable[[Path], Iterator[RawRow]]] = {
    ".jsonl": json_rows,
    ".json": json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
    "": json_rows,
}


def _in_words(place: str, path: str | Path) -> str:
    inside = place.removeprefix(f"{path}:").strip()
    return f"line {inside}" if inside.isdigit() else inside
