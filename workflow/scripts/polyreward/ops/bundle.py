"""Pack what a reader needs to check a scale's numbers into one file, and make tables again from it.

A bundle holds artifacts, scores, analysis and provenance, and no weights.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import whole_file, whole_folder
from polyreward.core.seals import SUMS, intact, parse_sums, read_sums, sums_text
from polyreward.ops.provenance import Made
from polyreward.ops.scales import overlays_of
from polyreward.ops.verify import make_and_compare, project_copy

ANALYSIS = "work/6_analysis/"
FORMATS = (".csv", ".jsonl", ".parquet")  # of scores and analysis: no hidden states, and no server's replies
PROVENANCE = "provenance.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of all members, so that equal content gives equal bytes


def pack(results: Path, artifacts: Sequence[str], made: Iterable[Made], path: Path) -> str:
    """Write a bundle and return its manifest's SHA-256; equal results and records give equal bytes.

    results: the folder, relative to the project's. artifacts: all files of artifacts, relative to results.
    made: their provenance.chain. Raises PolyrewardError where scores changed since they were made.
    """
    made = sorted(made, key=lambda one: one.path)
    members = {}
    for name in packed(results, artifacts, made):
        file = results / name
        members[name] = (intact(file) if file.suffix == ".parquet" else file).read_bytes()
    members[PROVENANCE] = json.dumps([dataclasses.asdict(one) for one in made], indent=1).encode()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    manifest = sums_text(sums).encode()
    with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in {SUMS: manifest, **members}.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return hashlib.sha256(manifest).hexdigest()


def packed(results: Path, artifacts: Sequence[str], made: Iterable[Made]) -> list[str]:
    """Return artifacts, scores, analysis, and what jobs of artifacts and analysis read, such as rows."""
    found, prefix = set(artifacts), f"{results.as_posix()}/"
    for folder in ("work/5_scores", ANALYSIS):
        for path in (results / folder).rglob("*"):
            name = path.relative_to(results)
            hidden = any(part.startswith(".") for part in name.parts)
            if path.is_file() and path.suffix in FORMATS and not hidden:
                found.add(name.as_posix())
    for one in made:
        name = one.path.removeprefix(prefix)
        if one.path.startswith(prefix) and (name in artifacts or name.startswith(ANALYSIS)):
            for parent in one.parents:
                if parent.startswith(prefix) and parent.endswith(FORMATS) and Path(parent).is_file():
                    found.add(parent.removeprefix(prefix))
    return sorted(found)


def unpack(path: Path, folder: Path) -> str:
    """Check a bundle and put its files into a folder, whole or not at all; return its manifest's SHA-256.

    Raises PolyrewardError with each member that is not as it was packed, or where the folder is there.
    """
    if folder.exists():
        raise PolyrewardError(f"{folder}: is there already; name a folder that is not")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: _content(archive, name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:  # the last: an unknown compression
        raise PolyrewardError(f"{path}: no bundle, or a damaged one ({error}); get it again") from error
    raise_all(_problems(members), f"{path}: not as it was packed; get it again")
    with whole_folder(folder) as temporary:
        for name, content in members.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(content)
    return hashlib.sha256(members[SUMS]).hexdigest()


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes; b"" where it is damaged, which its checksum then shows."""
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):  # the last: a password
        return b""


def _problems(members: Mapping[str, bytes]) -> Iterator[str]:
    if not members.get(SUMS):
        yield f"{SUMS}: missing or damaged"
        return
    sums = parse_sums(members[SUMS], SUMS)
    for name in members:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            yield f"{name}: would be written outside the folder"
    yield from (f"{name}: missing" for name in sorted(sums.keys() - members.keys()))
    yield from (f"{name}: is not in {SUMS}" for name in sorted(members.keys() - sums.keys() - {SUMS}))
    for name in sorted(sums.keys() & members.keys()):
        if hashlib.sha256(members[name]).hexdigest() != sums[name]:
            yield f"{name}: its content changed"


def rebuild(bundle: Path, root: Path, configfiles: Sequence[str], cores: str) -> str:
    """Make the artifacts of an unpacked bundle again, compare them, and return in words what was made.

    Only rules that made artifacts, or analysis of what the bundle holds, may run. Errors as make_and_compare.
    """
    names = read_sums(bundle / SUMS).keys() - {PROVENANCE}
    made = {one["path"]: one for one in json.loads((bundle / PROVENANCE).read_text(encoding="utf-8"))}
    artifacts = sorted(name for name in names if not name.startswith("work/"))
    ends = f"/{artifacts[0]}" if artifacts else "/"
    place = next((path.removesuffix(ends) for path in made if path.endswith(ends)), None)
    if place is None:
        raise PolyrewardError(f"{bundle / PROVENANCE}: has no record of an artifact; pack the bundle again")
    prefix = f"{place}/"

    def is_complete(name: str) -> bool:
        one = made.get(prefix + name)
        if one is None or one["rule"] is None:
            return False
        return {path.removeprefix(prefix) for path in one["parents"] if path.startswith(prefix)} <= names

    again = {name for name in names if name.startswith(ANALYSIS) and is_complete(name)}
    overlays, copy, now = overlays_of(root / place, root, configfiles), project_copy(root), time.time_ns()
    # Provenance in the results folder marks its scores as a bundle's.
    for name in sorted(names - again - set(artifacts) | {PROVENANCE}):
        target = copy / place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bundle / name, target)
        os.utime(target, ns=(now, now))  # nothing in the bundle is newer than what was made of it
    rules = sorted({made[prefix + name]["rule"] for name in [*artifacts, *again]})
    options = ["--rerun-triggers", "mtime", "--allowed-rules", *rules]
    make_and_compare(bundle, artifacts, root, copy, Path(place), overlays, cores, *options)
    return (
        f"{bundle}: {len(artifacts)} files of tables and figures, made again with {len(again)} files of"
        " analysis from the scores, are byte for byte those of the bundle"
    )
