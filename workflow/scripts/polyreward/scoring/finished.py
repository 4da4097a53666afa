"""Score files that a job has finished, kept until it has finished all.

Snakemake deletes the outputs of a job that fails, and a model may take hours for each language."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from polyreward.core.files import sha256_of, whole_file
from polyreward.core.seals import SUMS
from polyreward.core.tables import parse_score_path

FOLDER = ".finished"  # hidden, so that no bundle packs it


def kept_files(
    outputs: Iterable[str], folder: str | Path, params: Mapping, inputs: Iterable[str]
) -> dict[str, Path]:
    """Return {score file: where it is kept in a folder}, named by all that the scores depend on.

    params: all that the job takes but its files; they hold the hash of its code."""
    content = json.dumps([params, {path: _content(Path(path)) for path in inputs}], default=dict)
    name = f"{hashlib.sha256(content.encode()).hexdigest()[:16]}.parquet"
    places = {output: parse_score_path(output) for output in outputs}
    return {
        output: Path(folder, FOLDER, f"{place['benchmark']}_{place['language']}", name)
        for output, place in places.items()
    }


def _content(path: Path) -> object:
    """Return what tells a file or folder from another: checksums, or of a folder without them its times."""
    if path.is_file() or (path / SUMS).is_file():
        return sha256_of(path if path.is_file() else path / SUMS)
    states = {str(file): file.stat() for file in sorted(path.rglob("*")) if file.is_file()}
    return {name: [state.st_size, state.st_mtime_ns] for name, state in states.items()}


def copy(source: str | Path, target: str | Path) -> None:
    """Copy a file, whole or not at all."""
    with whole_file(target) as temporary:
        shutil.copyfile(source, temporary)


def forget(kept: Mapping[str, Path]) -> None:
    """Delete what is kept of some score files, also from other code or settings, and folders left empty."""
    for path in kept.values():
        shutil.rmtree(path.parent, ignore_errors=True)
        with suppress(OSError):
            os.removedirs(path.parents[1])
