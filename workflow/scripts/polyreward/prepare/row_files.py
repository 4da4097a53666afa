"""Rows of a table in any common file format."""

import csv
import io
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import json_fault, json_row, no_object, parsed_json

Row = tuple[str, dict | str]  # the row's place, and the row or what is wrong with it
FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
INDEX = ("", "Unnamed: 0", "__index_level_0__", "index")  # columns that pandas writes for its index
DELIMITERS = ",;\t|"
ROWS_AT_ONCE = 1000


def file_rows(path: str | Path) -> Iterator[Row]:
    """Yield each row of a file with its place, one at a time.

    Reads JSON Lines, JSON (a list, one object, or any layout that pandas writes), CSV with any common
    delimiter, and Parquet, each also compressed, and folders of `datasets.save_to_disk`.

    Raises:
        PolyrewardError: the file does not exist, or is not in its suffix's format.
    """
    path = Path(path)
    if path.is_dir():
        yield from _saved_dataset(path)
        return
    if not path.is_file():
        raise PolyrewardError(f"{path}: no such file; correct the path")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    kept = suffixes[:-1] if compression else suffixes
    suffix = kept[-1] if kept else ""
    if suffix not in ("", *FORMATS):
        raise PolyrewardError(f"{path}: cannot read `{suffix}` files; save it as one of {', '.join(FORMATS)}")
    kinds = {".csv": ("CSV", _csv_rows), ".tsv": ("CSV", _csv_rows), ".parquet": ("Parquet", _parquet_rows)}
    kind, rows = kinds.get(suffix, ("JSON", _json_rows))
    try:
        with _opened(path, compression) as stream:
            yield from rows(path, stream)
    except PolyrewardError:
        raise
    except UnicodeDecodeError as error:
        raise PolyrewardError(f"{path}: not UTF-8 (byte {error.start}); save the file in UTF-8") from error
    except Exception as error:  # a damaged file raises whatever its reader or its decompressor thinks of
        raise PolyrewardError(f"{path}: not a {kind} file ({error}); save it again") from error


@contextmanager
def _opened(path: Path, compression: str | None) -> Iterator[io.BufferedIOBase]:
    import fsspec  # a tenth of a second

    if compression == "zip" and len(names := zipfile.ZipFile(path).namelist()) != 1:
        raise PolyrewardError(f"{path}: holds {len(names)} files; unpack it and name one of them")
    with fsspec.open(path, "rb", compression=compression) as stream:
        yield stream


def _json_rows(path: Path, stream: io.BufferedIOBase) -> Iterator[Row]:
    first = next((line for line in stream if line.strip()), b"").removeprefix(b"\xef\xbb\xbf").strip()
    stream.seek(0)
    if first.startswith(b"{") and _is_json(first):
        yield from _json_lines(path, stream)
    else:
        yield from _json_table(path, stream.read())


def _is_json(line: bytes) -> bool:
    """Return whether a line is a row of JSON Lines, instead of the beginning of a larger object."""
    try:
        found = parsed_json(line.decode("utf-8", errors="replace"))
    except ValueError:
        return line.endswith(b"}")  # a bad row, which is named with its line
    return not (isinstance(found, dict) and _as_table(found))


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
    try:
        found = parsed_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield str(path), f"not UTF-8 (byte {error.start}); save the file in UTF-8"
        return
    except ValueError as error:
        if not raw.lstrip().startswith(b"[") and any(map(_is_row, raw.split(b"\n"))):
            yield from _json_lines(path, io.BytesIO(raw))  # JSON Lines, and its first one is broken
            return
        where = f"{path}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path)
        yield where, f"not JSON ({json_fault(error)}); correct that line"
        return
    rows = found if isinstance(found, list) else _as_table(found) if isinstance(found, dict) else None
    if rows is None:
        rows = [found]
    if isinstance(rows, str):
        raise PolyrewardError(f"{path}: {rows}")
    for number, row in enumerate(rows, 1):
        yield f"{path}: item {number}", row if isinstance(row, dict) else no_object(row, "for each item")


def _is_row(line: bytes) -> bool:
    return line.startswith(b"{") and isinstance(json_row(line), dict)


def _as_table(found: dict) -> list | str | None:
    """Return an object's rows if it is a table, or what is wrong with it; None where it is one row.

    A table is in pandas' layout `split`, `table`, `index` or `columns`, or is a list of rows under one key.
    """
    if isinstance(found.get("columns"), list) and _are(list, found.get("data")):
        names = found["columns"]
        uneven = [n for n, row in enumerate(found["data"], 1) if len(row) != len(names)]
        if uneven:
            return f"item {uneven[0]} has not one value for each of {len(names)} columns; save it again"
        return [dict(zip(names, row, strict=True)) for row in found["data"]]
    if isinstance(found.get("data"), list) and isinstance(found.get("schema"), dict):
        return found["data"]
    tables = [key for key, value in found.items() if _are(dict, value)]
    if tables and len(tables) == len(found) and not {"chosen", "rejected"} & set(tables):
        if len(tables) > 1:
            return f"holds several tables ({', '.join(tables[:9])}); save one of them as a file"
        return found[tables[0]]
    columns = list(found.values())
    if columns and all(isinstance(one, dict) for one in columns):
        keys = columns[0].keys()
        if keys and all(one.keys() == keys for one in columns):
            if all(key.isdigit() for key in keys):
                return [{name: column[key] for name, column in found.items()} for key in keys]
            if all(key.isdigit() for key in found):
                return columns
    return None


def _are(kind: type, value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, kind) for row in value)


def _named_once(path: Path, names: Sequence[str]) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise PolyrewardError(f"{path}: has the column `{twice[0]}` more than once; rename or delete one")


def _csv_rows(path: Path, raw: io.BufferedIOBase) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)  # an answer may be longer than the 128 KiB that the module allows
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
        header = stream.readline()
        stream.seek(0)
        delimiter = max(DELIMITERS, key=lambda one: (header.count(one), one == ","))
        reader = csv.DictReader(stream, delimiter=delimiter, strict=True)
        _named_once(path, reader.fieldnames or [])
        before = 1
        for cells in reader:
            place, before = f"{path}:{before + 1}", reader.line_num
            if None in cells:
                yield place, "has more cells than there are columns; quote a cell that has a comma or a quote"
            else:
                yield place, {key: text or None for key, text in cells.items() if key not in INDEX}


def _parquet_rows(path: Path, stream: io.BufferedIOBase) -> Iterator[Row]:
    from pyarrow.parquet import ParquetFile  # most files are not Parquet, and it takes a while

    with ParquetFile(stream) as file:
        names = [name for name in file.schema_arrow.names if name not in INDEX]
        _named_once(path, names)
        yield from _arrow_rows(path, file.iter_batches(batch_size=ROWS_AT_ONCE, columns=names))


def _saved_dataset(path: Path) -> Iterator[Row]:
    import datasets

    if not any((path / name).is_file() for name in ("dataset_info.json", "dataset_dict.json", "state.json")):
        raise PolyrewardError(
            f"{path}: a folder that datasets' save_to_disk did not write; name one of the files in it"
        )
    try:
        found = datasets.load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise PolyrewardError(f"{path}: datasets cannot load it ({error}); save it again") from error
    if isinstance(found, Mapping):
        if len(found) > 1:
            raise PolyrewardError(
                f"{path}: holds the splits {', '.join(found)}; name one, as {path}/{next(iter(found))}"
            )
        found = next(iter(found.values()))
    yield from _arrow_rows(path, found.with_format("arrow").iter(batch_size=ROWS_AT_ONCE))


def _arrow_rows(path: Path, tables: Iterable) -> Iterator[Row]:
    rows = (row for table in tables for row in table.to_pylist())
    return ((f"{path}: row {number}", row) for number, row in enumerate(rows, 1))
