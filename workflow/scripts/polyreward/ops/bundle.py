"""What a reader needs to check a scale's numbers, in one file: artifacts, scores, analysis and provenance,
and no weights."""

import dataclasses
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import whole_file, whole_folder
from polyreward.core.seals import SUMS, intact, parse_sums, sums_text
from polyreward.ops.provenance import Made, Records

ANALYSIS = "work/6_analysis/"
FOLDERS = ("work/5_scores", ANALYSIS)
FORMATS = (
    ".csv",
    ".jsonl",
    ".parquet",
)  # of these folders' files: no hidden states, and no replies of a judge's server
PROVENANCE = "provenance.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all members, since a bundle knows no clock; zip begins there


def pack(results: Path, artifacts: list[str], records: Records, path: Path) -> str:
    """Write a bundle of a results folder (relative to the project's); equal results and records give equal
    bytes.

    artifacts: all files of artifacts, relative to results. Returns the SHA-256 of its manifest. Raises
    PolyrewardError where scores changed since they were made."""
    made = {one.path: one for name in artifacts for one in records.chain((results / name).as_posix())}
    members = {name: intact_bytes(results / name) for name in packed(results, artifacts, made)}
    members[PROVENANCE] = json.dumps(
        [dataclasses.asdict(made[path]) for path in sorted(made)], indent=1
    ).encode()
    manifest = sums_text(
        {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    ).encode()
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in {SUMS: manifest, **members}.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return hashlib.sha256(manifest).hexdigest()


def packed(results: Path, artifacts: list[str], made: dict[str, Made]) -> list[str]:
    """Return the files of a results folder that a reader needs, sorted and relative to it: artifacts, scores,
    analysis, rows.

    made: {path: what is known of it} of the artifacts and all that they were made of."""
    return sorted({*artifacts, *_kept(results), *_read(results, artifacts, made)})


def unpack(path: Path, folder: Path) -> str:
    """Check a bundle and put its files into a folder, whole or not at all; returns the SHA-256 of its
    manifest.

    Raises PolyrewardError that names each member that is not as it was packed, and where the folder is there
    already."""
    if folder.exists():
        raise PolyrewardError(f"{folder}: is there already; name a folder that is not")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: _content(archive, name) for name in archive.namelist()}
            repeated = len(archive.namelist()) - len(members)
    except (
        OSError,
        zipfile.BadZipFile,
        NotImplementedError,
    ) as error:  # the last of a compression that zipfile does not know
        raise PolyrewardError(f"{path}: no bundle, or a damaged one ({error}); get it again") from error
    raise_all(_problems(members, repeated), f"{path}: not as it was packed; get it again")
    with whole_folder(folder) as temporary:
        for name, content in members.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(content or b"")
    return hashlib.sha256(members[SUMS] or b"").hexdigest()


def intact_bytes(path: Path) -> bytes:
    """Return a file's content, of scores after checking that they are as they were made."""
    return (intact(path) if path.suffix == ".parquet" else path).read_bytes()


def _kept(results: Path) -> Iterator[str]:
    for folder in FOLDERS:
        for path in (results / folder).rglob("*"):
            name = path.relative_to(results)
            if (
                path.is_file()
                and path.suffix in FORMATS
                and not any(part.startswith(".") for part in name.parts)
            ):
                yield name.as_posix()


def _read(results: Path, artifacts: list[str], made: dict[str, Made]) -> Iterator[str]:
    """Yield what the jobs of artifacts and analysis read beside scores, relative to results: rows of
    benchmarks, mostly."""
    for path, one in made.items():
        inside = PurePosixPath(path).is_relative_to(results)
        name = PurePosixPath(path).relative_to(results).as_posix() if inside else ""
        if name in artifacts or name.startswith(ANALYSIS):
            for parent in map(PurePosixPath, one.parents):
                if parent.is_relative_to(results) and parent.suffix in FORMATS and Path(parent).is_file():
                    yield parent.relative_to(results).as_posix()


def _content(archive: zipfile.ZipFile, name: str) -> bytes | None:
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):  # the last for a password
        return None


def _problems(members: dict[str, bytes | None], repeated: int) -> Iterator[str]:
    manifest = members.get(SUMS)
    if manifest is None:
        yield f"{SUMS}: missing or damaged"
        return
    told = parse_sums(manifest, SUMS)
    yield from (f"{name}: leads out of the folder" for name in members if _leads_out(name))
    yield from (f"{name}: missing" for name in sorted(told.keys() - members.keys()))
    yield from (f"{name}: is not in {SUMS}" for name in sorted(members.keys() - told.keys() - {SUMS}))
    if repeated:
        yield f"{repeated} members have the name of another"
    for name in sorted(told.keys() & members.keys()):
        content = members[name]
        if content is None or hashlib.sha256(content).hexdigest() != told[name]:
            yield f"{name}: its content is another"


def _leads_out(name: str) -> bool:
    return PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name
