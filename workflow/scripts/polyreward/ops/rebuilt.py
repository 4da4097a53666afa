"""Tables and figures made anew from an unpacked bundle: from its scores, with no model and no GPU."""

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from polyreward.core.errors import PolyrewardError
from polyreward.core.seals import SUMS, read_sums
from polyreward.ops.bundle import ANALYSIS, PROVENANCE
from polyreward.ops.verify import make_and_compare, project_copy, scale_of


def rebuild(bundle: Path, root: Path, configfiles: Sequence[str], cores: str) -> str:
    """Make the artifacts of an unpacked bundle again in a copy of the project, and compare them with the
    bundle's own.

    bundle: a folder of bundle.unpack. root: the project's folder. configfiles: as verify.scale_of has
    them. Only rules that made artifacts, or analysis of what the bundle holds, may run. Returns in words
    what was made. Raises PolyrewardError that names each file that differs and where; the rebuilt ones are
    kept then."""
    names = read_sums(bundle / SUMS).keys() - {PROVENANCE}
    made = {one["path"]: one for one in json.loads((bundle / PROVENANCE).read_text(encoding="utf-8"))}
    artifacts = sorted(name for name in names if not name.startswith("work/"))
    place = _place(artifacts, made, bundle)
    again = {
        name
        for name in names
        if name.startswith(ANALYSIS) and _all_there(made.get(f"{place}/{name}"), place, names)
    }
    overlays = scale_of(root / place, root, configfiles)
    folder = project_copy(root)
    now = time.time_ns()
    for name in sorted(
        names - again - set(artifacts) | {PROVENANCE}
    ):  # which says that scores come from a bundle
        target = folder / place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bundle / name, target)
        os.utime(target, ns=(now, now))  # nothing in the bundle is newer than what was made of it
    rules = sorted({made[f"{place}/{name}"]["rule"] for name in [*artifacts, *again]})
    options = ["--rerun-triggers", "mtime", "--allowed-rules", *rules]
    make_and_compare(
        bundle, folder, Path(place), artifacts, [(root / path).resolve() for path in overlays], cores, options
    )
    return (
        f"{bundle}: {len(artifacts)} files of tables and figures, made again with {len(again)} files of"
        " analysis from the scores, are byte for byte those of the bundle"
    )


def _place(artifacts: Sequence[str], made: Mapping[str, dict], bundle: Path) -> str:
    """Return the results folder that a bundle was packed from, relative to the project's."""
    for path in made:
        if artifacts and path.endswith(f"/{artifacts[0]}"):
            return path.removesuffix(f"/{artifacts[0]}")
    raise PolyrewardError(f"{bundle / PROVENANCE}: tells of no artifact that the bundle holds; pack it again")


def _all_there(one: Mapping | None, place: str, names: Sequence[str]) -> bool:
    """Return whether a job made a file, and the bundle or the project holds all that it read."""
    if one is None or one["rule"] is None:
        return False
    inside = (
        PurePosixPath(parent) for parent in one["parents"] if PurePosixPath(parent).is_relative_to(place)
    )
    return all(parent.relative_to(place).as_posix() in names for parent in inside)
