"""Rows of a table in any common file format."""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import json_fault, json_row, no_object, other_content, parsed_json

Row = tuple[str, dict | str]  # the row's place, and the row or what is wrong with it
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# {how a compressed file begins: how it is opened}
COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
ZSTD = b"\x28\xb5\x2f\xfd"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 512  # bytes, which tell what a file is
INDEX = ("", "Unnamed: 0", "__index_level_0__", "index")  # columns that pandas writes for its index
DELIMITERS = ",;\t|"
ROWS_AT_ONCE = 1000


def file_rows(path: str | Path) -> Iterator[Row]:
    """Yield each row of a file with its place, one at a time.

    Reads JSON Lines, JSON (a list, one object, or columns as pandas writes them), CSV with any common
    delimiter, and Parquet, each also compressed.

    Raises:
        PolyrewardError: the file does not exist, or is not in its suffix's format.
    """
    path = Path(path)
    if path.is_dir():
        raise PolyrewardError(f"{path}: a folder; name one of the files in it")
    if not path.exists():
        raise PolyrewardError(f"{path}: no such file; correct the path")
    if not path.is_file():
        raise PolyrewardError(f"{path}: a pipe or a device; write its content to a file, and name that")
    suffix = _suffix(path)
    if suffix not in FORMATS:
        formats = ", ".join(filter(None, FORMATS))
        raise PolyrewardError(f"{path}: cannot read `{suffix}` files; save it as one of {formats}")
    kind, rows = FORMATS[suffix]
    try:
        with _opened(path) as stream:
            head = stream.read(HEAD)
            stream.seek(0)
            other = other_content(head)
            if other:
                raise PolyrewardError(f"{path}: {other}")
            if head.startswith(b"PAR1"):
                kind, rows = FORMATS[".parquet"]
            elif head.startswith(UTF_16):
                stream = io.BytesIO(stream.read().decode("utf-16").encode())
            yield from rows(path, stream)
    except PolyrewardError:
        raise
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{path}: not UTF-8 (byte {error.start}); save the file in UTF-8") from error
    except Exception as error:  # a damaged file raises whatever its reader or its decompressor thinks of
        raise PolyrewardError(f"{path}: not a {kind} file ({error}); save it again") from error


def holds_no_lists(path: str | Path) -> bool:
    """Return whether a file is of a format whose cells are texts."""
    return FORMATS[_suffix(Path(path))][0] == "CSV"


def _suffix(path: Path) -> str:
    name = Path(path.stem) if path.suffix.lower() in COMPRESSED else path
    return name.suffix.lower()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file, decompressed as its first bytes say, whatever its name."""
    with contextlib.ExitStack() as closing:
        stream = closing.enter_context(open(path, "rb"))
        head = stream.peek(HEAD)
        for begin, opened in COMPRESSIONS.items():
            if head.startswith(begin):
                stream = closing.enter_context(opened(stream))
        if head.startswith(ZSTD):
            import pyarrow  # it takes a while

            stream = io.BytesIO(pyarrow.CompressedInputStream(stream, "zstd").read())
        yield stream


def _json_rows(path: Path, stream: io.BufferedIOBase) -> Iterator[Row]:
    first = next((line for line in stream if line.strip()), b"").removeprefix(b"\xef\xbb\xbf").strip()
    stream.seek(0)
    row = json_row(first) if first.startswith(b"{") else None
    is_row = row is not None and first.endswith(b"}")  # also a bad one, which is named with its line
    if _as_table(row) is None if isinstance(row, dict) else is_row:
        yield from _json_lines(path, stream)
    else:
        yield from _json_table(path, stream.read())


def _json_lines(path: Path, stream: Iterable[bytes]) -> Iterator[Row]:
    blank: list[str] = []
    for number, line in enumerate(stream, 1):
        place = f"{path}:{number}"
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            blank.append(place)  # none at the file's end is a row
            continue
        yield from ((one, "the line is empty; delete it") for one in blank)
        blank = []
        yield place, json_row(text)


def _json_table(path: Path, raw: bytes) -> Iterator[Row]:
    if not raw.strip():
        return
    text = raw.decode("utf-8-sig")
    try:
        found = parsed_json(text)
    except ValueError as error:
        lines = raw.split(b"\n") if not raw.lstrip().startswith(b"[") else []
        if any(line.startswith(b"{") and isinstance(json_row(line), dict) for line in lines):
            yield from _json_lines(path, io.BytesIO(raw))  # JSON Lines, and its first one is broken
            return
        where = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path)
        fault, fix = json_fault(error), "correct that line"
        if fault == "Extra data":
            fix = "if it holds one value after another, write one object a line, as `jq -c .` does"
        yield where, f"not JSON ({fault}); {fix}"
        return
    rows = found if isinstance(found, list) else _as_table(found) if isinstance(found, dict) else None
    if isinstance(rows, str):
        raise PolyrewardError(f"{path}: {rows}")
    for number, row in enumerate([found] if rows is None else rows, 1):
        yield f"{path}: item {number}", row if isinstance(row, dict) else no_object(row, "for each item")


def _as_table(found: dict) -> list | str | None:
    """Return an object's rows if it is a table, or what is wrong with it; None where it is one row.

    A table is a list of rows under one key, or pandas' {column: {number: value}}.
    """
    tables = [
        key
        for key, rows in found.items()
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    ]
    if tables and len(tables) == len(found) and not {"chosen", "rejected"} & set(tables):
        if len(tables) > 1:
            return f"holds several tables ({', '.join(tables[:9])}); save one of them as a file"
        return found[tables[0]]
    columns = list(found.values())
    if columns and all(isinstance(one, dict) and one.keys() == columns[0].keys() for one in columns):
        numbers = list(columns[0])
        if numbers and all(number.isdigit() for number in numbers):
            return [{name: column[number] for name, column in found.items()} for number in numbers]
    return None


def _named_once(path: Path, names: Sequence[str]) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise PolyrewardError(f"{path}: has the column `{twice[0]}` more than once; rename or delete one")


def _csv_rows(path: Path, raw: io.BufferedIOBase) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)  # an answer may be longer than the 128 KiB that the module allows
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
        header, skipped = stream.readline(), 0
        if header.startswith("sep=") and len(header) > 5 and header[4] in DELIMITERS:  # as Excel reads it
            delimiter, skipped = header[4], 1
        else:
            stream.seek(0)
            delimiter = max(DELIMITERS, key=lambda one: (header.count(one), one == ","))
        records = _csv_records(path, csv.reader(stream, delimiter=delimiter, strict=True), skipped)
        _, names = next(records, ("", []))
        _named_once(path, names)
        for place, cells in records:
            if len(cells) > len(names):
                yield place, "has more cells than there are columns; quote a cell that has a comma or a quote"
            else:
                found = zip_longest(names, cells)
                yield place, {name: text or None for name, text in found if name not in INDEX}


def _csv_records(path: Path, reader, skipped: int) -> Iterator[tuple[str, list[str]]]:
    """Yield each record with the line on which it begins, since a quoted cell may have several lines."""
    while True:
        place = f"{path}:{reader.line_num + skipped + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault, fix = str(error), "correct it, or save the file again"
            if "end of data" in fault or "expected after" in fault:
                fault, fix = "a quote is not closed", "close it, and write a quote inside a cell twice"
            raise PolyrewardError(f"{place}: in the row that begins here, {fault}; {fix}") from error
        if cells:  # none on an empty line
            yield place, cells


def _parquet_rows(path: Path, stream: io.BufferedIOBase) -> Iterator[Row]:
    from pyarrow.parquet import ParquetFile  # most files are not Parquet, and it takes a while

    with ParquetFile(stream) as file:
        names = [name for name in file.schema_arrow.names if name not in INDEX]
        _named_once(path, names)
        batches = file.iter_batches(batch_size=ROWS_AT_ONCE, columns=names)
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            yield f"{path}: row {number}", row


FORMATS = {
    **dict.fromkeys(("", ".jsonl", ".ndjson", ".json"), ("JSON", _json_rows)),
    **dict.fromkeys((".csv", ".tsv"), ("CSV", _csv_rows)),
    ".parquet": ("Parquet", _parquet_rows),
}
