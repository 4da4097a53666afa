"""Are results what was made, and does a rebuild from nothing give the same? By checksums, and by making all
of it again."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import sha256_of
from polyreward.core.seals import SUMS, changes, is_sealed, read_sums

PROJECT = (
    "Snakefile",
    "config.yaml",
    "envs",
    "resources",
    "workflow",
)  # copied, so that an edit does not reach a rebuild
LOOKS = 200  # characters of a line that a message shows


def told_sums(results: Path) -> dict[str, str]:
    """Return {file of an artifact: SHA-256} of a results folder; raises PolyrewardError where it has none."""
    if not (results / SUMS).is_file():
        raise PolyrewardError(
            f"{results / SUMS}: no such file; `make {results / SUMS}` makes it; or name artifacts"
        )
    return read_sums(results / SUMS)


def check_sums(results: Path, told: dict[str, str]) -> str:
    """Check artifacts against their checksums, and scores, states and models below work/ against their own.

    told: as told_sums returns it. Returns in words how many are as they were made. Raises PolyrewardError
    that names the others."""
    folders = sorted(path.parent for path in (results / "work").rglob(SUMS))
    files = [
        path for path in _sealed_files(results) if not any(path.is_relative_to(folder) for folder in folders)
    ]
    problems = [
        *(f"{results / name}: missing" for name in told if not (results / name).is_file()),
        *(
            f"{results / name}: changed"
            for name, sha256 in told.items()
            if _is_another(results / name, sha256)
        ),
        *(f"{path}: changed, or carries no checksum" for path in files if not is_sealed(path)),
        *(f"{folder}: {change}" for folder in folders for change in changes(folder)),
    ]
    raise_all(problems, f"{results}: delete what is named here and run the command that makes it again")
    return (
        f"{results}: as made are {len(told)} files of artifacts, {len(files)} of scores and states,"
        f" {len(folders)} models"
    )


def _sealed_files(results: Path) -> list[Path]:
    found = (
        path for suffix in ("parquet", "safetensors") for path in (results / "work").rglob(f"*.{suffix}")
    )
    return sorted(path for path in found if "checkpoints" not in path.relative_to(results).parts)


def _is_another(path: Path, sha256: str) -> bool:
    return path.is_file() and sha256_of(path) != sha256


def scale_of(results: Path, root: Path, configfiles: Sequence[str]) -> list[str]:
    """Return the overlays on config.yaml that a results folder is made with: those given, or the one of
    workflow/scales/.

    root: the project's folder. Raises PolyrewardError where they make another folder, or none is found."""
    from snakemake.utils import update_config

    from polyreward.core.yaml_files import read_yaml

    if not (root / "Snakefile").is_file():
        raise PolyrewardError(f"{root}: has no Snakefile; run this in the project's folder")
    scales = [str(path.relative_to(root)) for path in sorted((root / "workflow/scales").glob("*.yaml"))]
    for overlays in [list(configfiles)] if configfiles else [[], *([path] for path in scales)]:
        config = {}
        for path in ["config.yaml", *overlays]:
            if not (root / path).is_file():
                raise PolyrewardError(
                    f"{path}: no such file; name an overlay on config.yaml, such as {scales[0]}"
                )
            update_config(config, read_yaml(root / path))
        if (root / config["results"]).resolve() == results.resolve():
            return overlays
    found = (
        f"{' '.join(['config.yaml', *configfiles])} makes another folder"
        if configfiles
        else "no file of workflow/scales/ makes it"
    )
    raise PolyrewardError(
        f"{results}: {found}; name the overlays on config.yaml that it was made with (--configfile)"
    )


def check_rebuild(
    results: Path, files: Sequence[str], root: Path, configfiles: Sequence[str], cores: str
) -> str:
    """Make files of artifacts from nothing in a temporary folder and compare them with those of a results
    folder.

    files: relative to results. configfiles: as scale_of returns them. cores: as Snakemake has it. Returns in
    words that all are equal. Raises PolyrewardError that names each file that differs and where; the rebuilt
    ones are kept then."""
    place = results.resolve().relative_to(root.resolve())
    make_and_compare(
        results, project_copy(root), place, files, [(root / path).resolve() for path in configfiles], cores
    )
    return f"{results}: {len(files)} files of artifacts are byte for byte what a rebuild from nothing gives"


def project_copy(root: Path) -> Path:
    """Return a temporary folder with a project's code and settings, links to what else is in it, and no
    results."""
    folder = Path(tempfile.mkdtemp(prefix="polyreward-rebuild-"))
    for path in root.iterdir():
        if path.name in PROJECT:
            _copy(path, folder / path.name)
        elif path.name != "results" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path.resolve())  # data of the user's own, which may be large
    return folder


def make_and_compare(
    results: Path,
    folder: Path,
    place: Path,
    files: Sequence[str],
    configfiles: Sequence[Path],
    cores: str,
    options: Sequence[str] = (),
) -> None:
    """Make files in a copy of the project and compare them with those of a results folder; the copy goes
    where all are equal.

    place: of the results in the copy. files: relative to it. options: more of Snakemake's. Errors as in
    check_rebuild."""
    command = [sys.executable, "-m", "snakemake", "--cores", cores, *options]
    command += ["--configfile", *map(str, configfiles)] if configfiles else []
    if subprocess.run(
        [*command, "--", *(str(place / name) for name in files)], cwd=folder, check=False
    ).returncode:
        raise PolyrewardError(f"{results}: the rebuild in {folder} failed; its log is above")
    found = ((name, difference(results / name, folder / place / name)) for name in files)
    raise_all(
        (f"{name}: {text}" for name, text in found if text),
        f"{results} and its rebuild, which is kept in {folder}",
    )
    shutil.rmtree(folder)


def _copy(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        shutil.copyfile(path, target)


def difference(ours: Path, rebuilt: Path) -> str | None:
    """Return in words where a file first differs from its rebuilt one, by line or byte; None where it does not."""
    missing = [str(path) for path in (ours, rebuilt) if not path.is_file()]
    if missing:
        return f"there is no {' and no '.join(missing)}"
    one, other = ours.read_bytes(), rebuilt.read_bytes()
    if one == other:
        return None
    if ours.suffix in (".png", ".pdf"):
        return f"differs from byte {_first(one, other)} of {len(one)} on"
    lines = [content.decode("utf-8", errors="replace").split("\n") for content in (one, other)]
    number = _first(*lines)
    shown = [f"`{found[number][:LOOKS]}`" if number < len(found) else "nothing" for found in lines]
    return f"line {number + 1}: {shown[0]} here, {shown[1]} rebuilt"


def _first(one: Sequence, other: Sequence) -> int:
    """Return the first place at which two sequences differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
