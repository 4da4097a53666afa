"""Checksums stored with each result and checked on reading, so that a changed file is named.

A file holds its own: a mark in its metadata with the SHA-256 of all its bytes, with the mark's digits as
zeros. A folder has a file SHA256SUMS in sha256sum's format.
"""

import contextlib
import hashlib
import mmap
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of, whole_file, whole_folder

SUMS = "SHA256SUMS"
ZEROS = b"0" * 64
MARK = b"polyreward-sha256:"
UNSEALED = (MARK + ZEROS).decode()  # what a writer puts into a file's metadata for sealed_file to fill in
METADATA = {"checksum": UNSEALED}  # of safetensors, which write several entries in any order
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")  # formats of weights that may run code when they are read
NOT_OURS = (SUMS, ".snakemake_timestamp")  # Snakemake leaves the second in each folder that a job made
LINE = re.compile(r"([0-9a-f]{64})  (.+)")

Source = TypeVar("Source", str, Path)


@contextlib.contextmanager
def sealed_file(path: str | Path) -> Iterator[Path]:
    """Do as files.whole_file for a file that holds UNSEALED once, and put its checksum there."""
    with whole_file(path) as temporary:
        yield temporary
        with open(temporary, "r+b") as stream, mmap.mmap(stream.fileno(), 0) as content:
            places = [found.end() - len(ZEROS) for found in re.finditer(UNSEALED.encode(), content)]
            if len(places) != 1:
                raise PolyrewardError(
                    f"{path}: not written, as its texts hold `{UNSEALED}`; take that out of the data"
                )
            content[places[0] : places[0] + len(ZEROS)] = _digest(content, places[0]).encode()


@contextlib.contextmanager
def sealed_folder(path: str | Path) -> Iterator[Path]:
    """Do as files.whole_folder, and write a SHA256SUMS of all its files last."""
    with whole_folder(path) as temporary:
        yield temporary
        (temporary / SUMS).write_text(sums_text(folder_sums(temporary)), "utf-8")


def intact(source: Source) -> Source:
    """Return a sealed file or folder unless it has changed; a folder without SHA256SUMS and a hub id as is.

    Raises PolyrewardError that names what changed, or where the model's only weights are pickles."""
    path = Path(source)
    if path.is_dir():
        _refuse_pickles(path)
        problems = list(changes(path)) if (path / SUMS).exists() else []
        if problems:
            listed = "\n".join(f"  - {problem}" for problem in problems)
            raise PolyrewardError(
                f"{path}: changed since it was made\n{listed}\nDelete it (rm -r {path}) and run the same"
                f" command again. If you changed the folder on purpose, delete only {path / SUMS}."
            )
    elif path.is_file() and not is_sealed(path):
        raise PolyrewardError(
            f"{path}: changed since it was made: its checksum is missing or does not fit. Delete it (rm"
            f" {path}) and run the same command again."
        )
    return source


def _refuse_pickles(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    adapter = "adapter_model.bin" in names and "adapter_model.safetensors" not in names
    if adapter or "config.json" in names and not any(name.endswith(".safetensors") for name in names):
        found = [name for name in names if name.endswith(PICKLES)]
        if found:
            raise PolyrewardError(f"{folder}: {pickled(found)}")


def pickled(names: Sequence[str]) -> str:
    """Say that weights are pickles, and what to do."""
    return (
        f"has no weights as safetensors, but {', '.join(names[:3])}: reading such pickles may run code. Name"
        " a revision or a repository with safetensors. Or convert them on a machine where that does no harm:"
        " load the model there, call its save_pretrained(folder), and name that folder"
    )


def is_sealed(path: Path) -> bool:
    """Return whether a file carries its own valid checksum."""
    if not path.stat().st_size:
        return False
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        marks = [(found.start(1), found[1]) for found in re.finditer(MARK + b"([0-9a-f]{64})", content)]
        return any(_digest(content, place).encode() == recorded for place, recorded in marks)


def changes(folder: Path) -> Iterator[str]:
    """Yield each difference between a folder and its SHA256SUMS."""
    recorded = read_sums(folder / SUMS)
    found = _files(folder)
    yield from (f"{name}: missing" for name in sorted(recorded.keys() - set(found)))
    yield from (f"{name}: was not there" for name in found if name not in recorded)
    yield from (
        f"{name}: its content is another"
        for name in found
        if name in recorded and sha256_of(folder / name) != recorded[name]
    )


def sums_text(sums: dict[str, str]) -> str:
    """Return {file: SHA-256} as `sha256sum --check` reads it, sorted by file."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def read_sums(path: str | Path) -> dict[str, str]:
    """Read a file of checksums."""
    return parse_sums(Path(path).read_bytes(), path)


def parse_sums(content: bytes, where: str | Path) -> dict[str, str]:
    """Return {file: SHA-256} from a file of checksums; PolyrewardError, which names `where`, if damaged."""
    lines = content.decode("utf-8", errors="replace").split("\n")
    found = {match[2]: match[1] for line in lines[:-1] if (match := LINE.fullmatch(line))}
    if lines[-1] or len(found) < len(lines) - 1:
        raise PolyrewardError(
            f"{where}: damaged, a line is not `<sha256>  <file>`; delete it and what it lists,"
            " and run the same command again"
        )
    return found


def folder_sums(folder: str | Path) -> dict[str, str]:
    """Return {file: SHA-256} of a folder: by its SHA256SUMS, or by its files where it has none."""
    folder = Path(folder)
    if (folder / SUMS).exists():
        return read_sums(folder / SUMS)
    return {name: sha256_of(folder / name) for name in _files(folder)}


def _files(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in NOT_OURS)
    return sorted(path.relative_to(folder).as_posix() for path in files)


def _digest(content: mmap.mmap, place: int) -> str:
    """Return a file's SHA-256 with the 64 bytes at a position taken as zeros."""
    with memoryview(content) as view:
        digest = hashlib.sha256(view[:place])
        digest.update(ZEROS)
        digest.update(view[place + len(ZEROS) :])
    return digest.hexdigest()
