"""What Snakemake would take for up to date and is not: results without a record, and inputs that changed
unnoticed."""

import json
import os
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import sha256_of

SNAKEMAKE = Path(".snakemake")
# Files of stages that jobs make one by one, below work/; others stand in folders, or are kept by jobs for
# themselves.
MADE = (
    "1_sources/data/*.jsonl",
    "2_prepared/*.jsonl",
    "3_translated/**/*.jsonl",
    "5_scores/**/*.parquet",
    "6_analysis/**/*.csv",
    "6_analysis/**/*.parquet",
)
UNBUNDLED = (  # in a folder that `polyreward unbundle` wrote, which says itself what made its files
    "provenance.json"
)


def check_records(results: Path, snakemake: Path = SNAKEMAKE) -> None:
    """Raise PolyrewardError where a results folder has files of jobs that Snakemake knows nothing of, such as
    copied ones.

    results: relative to the folder that Snakemake runs in, as records have it; snakemake: the folder of its
    records."""
    if (results / UNBUNDLED).is_file():
        return
    made = sorted(
        path.as_posix() for pattern in MADE for path in (results / "work").glob(pattern) if not _hidden(path)
    )
    if not made:
        return
    known = {
        *_recorded(snakemake / "metadata"),
        *_recorded(snakemake / "incomplete"),
    }  # an incomplete one is made again
    unknown = [path for path in made if path not in known]
    if unknown:
        raise PolyrewardError(
            f"{results}: Snakemake has no record of the jobs that made {len(unknown)} files here, such as"
            f" {unknown[0]}, and would take them for up to date, whatever code and settings they are of. Copy"
            f" the records along with the results ({snakemake}/metadata; docs/recipes/move_results.md says"
            f" how), or delete {results}/work to make it here"
        )


def check_inputs(results: Path, snakemake: Path = SNAKEMAKE) -> None:
    """Raise PolyrewardError that names each file of data which changed since a result was made of it, and
    looks older than that.

    Such a file was edited after the clock had been set back, or copied with its old time; Snakemake compares
    the content of newer ones alone. Looks at what no job made, as far as records have its checksum; arguments
    as in check_records."""
    records = dict(_records(snakemake / "metadata"))
    sums: dict[str, str | None] = {}
    changed: dict[str, str] = {}  # {file: a result that was made of it}
    for output, record in sorted(records.items()):
        made = _time(Path(output)) if _is_of(Path(output), results) else None
        for path, told in sorted(_told(record).items()):
            if made is None or path in records or path in changed or not Path(path).is_file():
                continue
            if path not in sums:
                sums[path] = f"sha256:{sha256_of(path)}"
            if sums[path] != told and os.path.getmtime(path) <= made:
                changed[path] = output
    raise_all(
        (
            f"{path}: is another than {output} was made of, and its time says that it is older; run `touch"
            f" {path}`, and what depends on it is made again"
            for path, output in changed.items()
        ),
        "Was the clock set back, or a file copied with its old time?",
    )


def _is_of(output: Path, results: Path) -> bool:
    """Return whether a file is of a results folder, and not of another scale's inside it."""
    if not output.is_relative_to(results):
        return False
    first = output.relative_to(results).parts[0]
    return first == "work" or not (results / first / "work").is_dir()


def _time(output: Path) -> float | None:
    """Return when a job made a file, or a folder, as Snakemake has it; None where it is not there."""
    mark = output / ".snakemake_timestamp"
    found = mark if mark.is_file() else output
    return found.stat().st_mtime if found.exists() else None


def _told(record: Path) -> dict[str, str]:
    """Return {input: its checksum} of a record; nothing where it is damaged, as Snakemake will say."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return (found.get("input_checksums") or {}) if isinstance(found, dict) else {}


def _recorded(folder: Path) -> Iterator[str]:
    """Yield the paths that records are of."""
    return (path for path, _ in _records(folder))


def _records(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each path that a record is of, and the record: its name is the path in Base64, a long one cut
    into folders that begin with @."""
    for place, _, names in os.walk(folder):
        above = "".join(part.removeprefix("@") for part in Path(place).relative_to(folder).parts)
        for name in names:
            try:
                yield urlsafe_b64decode(above + name).decode(), Path(place, name)
            except ValueError:  # of no path: a file that Snakemake keeps for itself
                continue


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
