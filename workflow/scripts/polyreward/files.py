"""Reading and writing files whole or not at all."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from polyreward.errors import PolyrewardError


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it on success and removed on failure.

    Raises PolyrewardError where the disk is full or the folder cannot be written."""
    path = Path(path)
    with _temporary_beside(path) as folder:
        yield folder / path.name
        os.replace(folder / path.name, path)


@contextlib.contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Like `whole_file`, for a folder, which replaces the one at `path`."""
    path = Path(path)
    with _temporary_beside(path) as folder:
        (folder / path.name).mkdir()
        yield folder / path.name
        shutil.rmtree(path, ignore_errors=True)
        os.replace(folder / path.name, path)


@contextlib.contextmanager
def _temporary_beside(path: Path) -> Iterator[Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(path.parent)):
            raise
        raise PolyrewardError(f"{path}: not written, {error.strerror or error}; free some space or mend the folder") from error


def sha256_of(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_text(text: str, path: str | Path) -> None:
    """Write text in UTF-8, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_jsonl(path: str | Path) -> list[dict]:
    """Read JSON Lines; each object also must be one JSON object a line.

    Raises PolyrewardError that names every bad line."""
    rows, problems = [], []
    with open(path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError:
                problems.append(f"{path}:{number}: not UTF-8; save the file in UTF-8")
                continue
            except json.JSONDecodeError as error:
                problems.append(f"{path}:{number}: not JSON ({error.msg}); write one JSON object a line")
                continue
            if isinstance(row, dict):
                rows.append(row)
            else:
                problems.append(f"{path}:{number}: a {type(row).__name__}, not an object; write {{...}} on each line")
    if problems:
        raise PolyrewardError("\n".join(problems))
    return rows


def write_jsonl(rows: Iterable[dict], path: str | Path) -> None:
    """Write JSON Lines in UTF-8, whole or not at all."""
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
