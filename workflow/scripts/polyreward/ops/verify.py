"""Compare results with their checksums, and with a rebuild from nothing."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import sha256_of
from polyreward.core.seals import SUMS, changes, is_sealed, read_sums

# Copied, so that an edit does not reach a rebuild
PROJECT = ("Snakefile", "config.yaml", "envs", "resources", "workflow")
SHOWN = 200  # characters of a line in a message


def artifact_sums(results: Path) -> dict[str, str]:
    """Return {file of an artifact: SHA-256} of a results folder."""
    if not (results / SUMS).is_file():
        raise PolyrewardError(
            f"{results / SUMS}: no such file; `make {results / SUMS}` makes all of this scale and writes it,"
            " or name artifacts: ARTIFACT=table1"
        )
    return read_sums(results / SUMS)


def check_sums(results: Path, sums: Mapping[str, str]) -> str:
    """Check artifacts, scores, states and models by their checksums; return in words how many there are.

    sums: of the artifacts to check. Raises PolyrewardError with all that are not as they were made.
    """
    folders = sorted(path.parent for path in (results / "work").rglob(SUMS))
    files = [
        path
        for path in sorted((results / "work").rglob("*"))
        if path.suffix in (".parquet", ".safetensors")
        and "checkpoints" not in path.relative_to(results).parts
        and not any(path.is_relative_to(folder) for folder in folders)
    ]
    problems = []
    for name, sha256 in sums.items():
        if not (results / name).is_file():
            problems.append(f"{results / name}: missing")
        elif sha256_of(results / name) != sha256:
            problems.append(f"{results / name}: changed")
    problems += [f"{path}: changed, or has no checksum" for path in files if not is_sealed(path)]
    problems += [f"{folder}: {change}" for folder in folders for change in changes(folder)]
    raise_all(problems, f"{results}: delete what is named here and run the command that makes it again")
    counts = f"{len(sums)} files of artifacts, {len(files)} of scores and states, {len(folders)} models"
    return f"{results}: as made are {counts}"


def not_covered(results: Path, names: Iterable[str], sums: Mapping[str, str]) -> Iterator[str]:
    """Yield each artifact that no checksum covers, and what to do."""
    why = f"{SUMS} does not name it" if (results / SUMS).is_file() else f"there is no {results / SUMS}"
    for name in names:
        if name not in sums:
            yield (
                f"{results / name}: not checked, as {why}. `make verify RESULTS={results}"
                f" ARTIFACT={Path(name).stem}` compares it with a rebuild. `make {results / SUMS}` makes"
                " all of this scale and writes checksums"
            )


def check_rebuild(
    results: Path, files: Sequence[str], root: Path, overlays: Sequence[str], cores: str
) -> str:
    """Make artifacts from nothing in a temporary folder and compare them; errors as in make_and_compare."""
    place = results.resolve().relative_to(root.resolve())
    make_and_compare(results, files, root, project_copy(root), place, overlays, cores)
    return f"{results}: {len(files)} files of artifacts are byte for byte what a rebuild from nothing gives"


def project_copy(root: Path) -> Path:
    """Return a temporary folder with a project's code and settings, links to other files, and no results."""
    folder = Path(tempfile.mkdtemp(prefix="polyreward-rebuild-"))
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for path in root.iterdir():
        copied = folder / path.name
        if path.name in PROJECT:
            shutil.copytree(path, copied, ignore=ignore) if path.is_dir() else shutil.copyfile(path, copied)
        elif path.name != "results" and not path.name.startswith("."):
            copied.symlink_to(path.resolve())  # the user's own data, which may be large
    return folder


def make_and_compare(
    results: Path,
    files: Sequence[str],
    root: Path,
    copy: Path,
    place: Path,
    overlays: Sequence[str],
    cores: str,
    *options: str,
) -> None:
    """Make files in a copy of the project and compare them; remove the copy where all are equal.

    results: the folder to compare with. files: relative to it. root: of the project, in which overlays are.
    copy: as project_copy returns it. place: of results in the copy.

    Raises:
        PolyrewardError: names each file that differs and where; the copy is kept.
    """
    command = [sys.executable, "-m", "snakemake", "--cores", cores, *options]
    if overlays:
        command += ["--configfile", *(str((root / path).resolve()) for path in overlays)]
    command += ["--", *(str(place / name) for name in files)]
    if subprocess.run(command, cwd=copy, check=False).returncode:
        raise PolyrewardError(f"{results}: the rebuild in {copy} failed; its log is above")
    found = {name: difference(results / name, copy / place / name) for name in files}
    where = f"{results} and its rebuild, which is kept in {copy}"
    raise_all((f"{name}: {text}" for name, text in found.items() if text), where)
    shutil.rmtree(copy)


def difference(ours: Path, rebuilt: Path) -> str | None:
    """Return where a file first differs from its rebuilt one, by line or byte; None where it does not."""
    missing = [str(path) for path in (ours, rebuilt) if not path.is_file()]
    if missing:
        return f"there is no {' and no '.join(missing)}"
    one, other = ours.read_bytes(), rebuilt.read_bytes()
    if one == other:
        return None
    is_text = ours.suffix not in (".png", ".pdf")
    parts = [content.decode(errors="replace").split("\n") if is_text else content for content in (one, other)]
    pairs = enumerate(zip_longest(*parts))
    first = next((place for place, (left, right) in pairs if left != right), 0)
    if not is_text:
        return f"differs from byte {first} of {len(one)} on"
    shown = [f"`{lines[first][:SHOWN]}`" if first < len(lines) else "nothing" for lines in parts]
    return f"line {first + 1}: {shown[0]} here, {shown[1]} rebuilt"
