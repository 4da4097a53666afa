"""Is what stands in a results folder of jobs that Snakemake has a record of? Without one, it takes any file for up to date."""

import os
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path

from polyreward.core.errors import PolyrewardError

SNAKEMAKE = Path(".snakemake")
# Files of stages that jobs make one by one, below work/; others stand in folders, or are kept by jobs for themselves.
MADE = (
    "1_sources/data/*.jsonl", "2_prepared/*.jsonl", "3_translated/**/*.jsonl", "5_scores/**/*.parquet", "6_analysis/**/*.csv",
    "6_analysis/**/*.parquet",
)  # fmt: skip
UNBUNDLED = "provenance.json"  # in a folder that `polyreward unbundle` wrote, which says itself what made its files


def check_records(results: Path, snakemake: Path = SNAKEMAKE) -> None:
    """Raise PolyrewardError where a results folder has files of jobs that Snakemake knows nothing of, such as copied ones.

    results: relative to the folder that Snakemake runs in, as records have it; snakemake: the folder of its records."""
    if (results / UNBUNDLED).is_file():
        return
    made = sorted(path.as_posix() for pattern in MADE for path in (results / "work").glob(pattern) if not _hidden(path))
    if not made:
        return
    known = {*_recorded(snakemake / "metadata"), *_recorded(snakemake / "incomplete")}  # an incomplete one is made again
    unknown = [path for path in made if path not in known]
    if unknown:
        raise PolyrewardError(
            f"{results}: Snakemake has no record of the jobs that made {len(unknown)} files here, such as {unknown[0]}, "
            "and would take them for up to date, whatever code and settings they are of. Copy the records along with the "
            f"results ({snakemake}/metadata; docs/recipes/move_results.md says how), or delete {results}/work to make it here"
        )


def _recorded(folder: Path) -> Iterator[str]:
    """Yield the paths that records are of: their names are the paths in Base64, long ones cut into folders that begin with @."""
    for place, _, names in os.walk(folder):
        above = "".join(part.removeprefix("@") for part in Path(place).relative_to(folder).parts)
        for name in names:
            try:
                yield urlsafe_b64decode(above + name).decode()
            except ValueError:  # of no path: a file that Snakemake keeps for itself
                continue


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
