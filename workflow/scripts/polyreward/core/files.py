"""Read files, and write them whole or not at all."""

import contextlib
import errno
import glob
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.inert import HALF_CHARACTER


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, renamed to it on success and removed on failure.

    Raises PolyrewardError where the disk is full or the folder cannot be written."""
    path = Path(path)
    with _temporary_folder(path) as folder:
        yield folder / path.name
        _let_others_read(folder / path.name)
        os.replace(folder / path.name, path)


@contextlib.contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Do as `whole_file` for a folder, which replaces the one at `path`."""
    path = Path(path)
    with _temporary_folder(path) as folder:
        (folder / path.name).mkdir()
        yield folder / path.name
        _let_others_read(folder / path.name)
        shutil.rmtree(path, ignore_errors=True)
        os.replace(folder / path.name, path)


def unwritable(path: str | Path) -> str | None:
    """Try to write some bytes next to a path; return why it cannot be done, or None."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:99]}.") as file:
            file.write(bytes(4096))
            file.flush()
    except (FileExistsError, NotADirectoryError):
        return "a part of its path is a file, not a folder"
    except OSError as error:
        return error.strerror or str(error)
    return f"{path} is a folder" if path.is_dir() else None


def remove_unfinished(path: str | Path) -> None:
    """Remove what a killed job left half-written next to a file or folder of this job."""
    for half in Path(path).parent.glob(f".{glob.escape(Path(path).name)}.????????"):
        shutil.rmtree(half, ignore_errors=True)


def _let_others_read(path: Path) -> None:
    """Give new files the mode that the umask asks for; safetensors writes them for the owner only.

    A file with other links keeps its mode, since the hub's cache shares it."""
    plain = path.parent / ".mode"  # a new file shows the umask; os.umask would change it for all threads
    plain.touch()
    mode = stat.S_IMODE(plain.stat().st_mode)
    for file in path.rglob("*") if path.is_dir() else [path]:
        found = file.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and stat.S_IMODE(found.st_mode) != mode:
            file.chmod(mode)


@contextlib.contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            yield Path(folder)
    except Exception as error:
        reason = _why_unwritable(error, path.parent)
        if reason is None:
            raise
        raise PolyrewardError(
            f"{path}: not written, {reason}; free some space or fix the folder, then run again"
        ) from error


def _why_unwritable(error: Exception, folder: Path) -> str | None:
    """Say why a disk refused a file; None where the error is about something else."""
    if isinstance(error, OSError):
        here = error.filename is not None and Path(error.filename).absolute().is_relative_to(
            folder.absolute()
        )
        refused = here and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        return os.strerror(error.errno) if refused or error.errno in (errno.ENOSPC, errno.EDQUOT) else None
    # safetensors and torch report a full disk in errors of their own
    return os.strerror(errno.ENOSPC) if os.strerror(errno.ENOSPC) in str(error) else None


# How other things begin that are saved under the name of a file: (its first bytes, what it is and what to do)
BEGINNINGS = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the file itself; run `git lfs pull`"),
    (b"<!doctype html", "is a web page (HTML); download the file itself, by its raw or resolve address"),
    (b"<html", "is a web page (HTML); download the file itself, by its raw or resolve address"),
    (b"<?xml", "is XML, such as a server's error; download the file again"),
    (b"pk\x03\x04", "is a zip archive, as an Excel workbook is; unpack it, or save it as CSV in UTF-8"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook; save it as CSV in UTF-8"),
    (b"arrow1\0", "is an Arrow file, as datasets keeps them; save it with `to_json` or `to_parquet`"),
)


def other_content(head: bytes) -> str | None:
    """Say what a file is and what to do, by its first bytes, where it cannot be what its name says."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return next((words for begin, words in BEGINNINGS if head.startswith(begin)), None)


def sha256_of(path: str | Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_text(text: str, path: str | Path) -> None:
    """Write text in UTF-8, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_jsonl(paths: str | Path | Iterable[str | Path]) -> list[dict]:
    """Read one file of JSON Lines or several as one list; raise PolyrewardError with each bad line of one."""
    found = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        if not Path(path).is_file():
            raise PolyrewardError(f"{path}: no such file; correct the path")
        with open(path, "rb") as stream:
            rows = [json_row(line) for line in stream]
        problems = [f"{path}:{number}: {row}" for number, row in enumerate(rows, 1) if isinstance(row, str)]
        if problems:
            raise PolyrewardError("\n".join(problems))
        found += rows
    return found


def json_row(line: bytes) -> dict | str:
    """Return the JSON object of a line, or what is wrong with it."""
    try:
        row = parsed_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8; save the file in UTF-8"
    except ValueError as error:
        return f"not JSON ({json_fault(error)}); write one JSON object a line"
    return row if isinstance(row, dict) else no_object(row, "on each line")


def parsed_json(text: str) -> object:
    """Parse JSON; ValueError where it is none, nested too deep, or has a repeated key or half a character."""
    try:
        found = json.loads(text, object_pairs_hook=_once)
        halved = "\\u" in text and HALF_CHARACTER.search(json.dumps(found, ensure_ascii=False))
    except RecursionError:
        raise ValueError("nested too deep") from None
    if halved:
        raise ValueError("invalid Unicode, an unpaired surrogate (\\ud800 to \\udfff)")
    return found


def _once(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"`{twice[:60]}` appears twice in one object")
    return found


def json_fault(error: ValueError) -> str:
    """Say why parsed_json refused a text."""
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error).split(";")[0]


def no_object(value: object, where: str) -> str:
    """Say that a value is no JSON object."""
    return f"{json.dumps(value, default=str)[:60]}: not an object; write {{...}} {where}"


def write_jsonl(rows: Iterable[dict], path: str | Path) -> None:
    """Write JSON Lines in UTF-8, whole or not at all."""
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def save_tokenizer(tokenizer, folder: str | Path) -> None:
    """Save a tokenizer without the fields that depend on how it was loaded."""
    tokenizer.init_kwargs.pop("local_files_only", None)
    tokenizer.save_pretrained(folder)
