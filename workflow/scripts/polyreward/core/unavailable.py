"""Scores that are unavailable, and the reasons. With `missing: row`, a table shows them as an empty row.

A score file without rows carries the reason in its metadata. A model's folder holds it in a file.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from polyreward.core.errors import UnavailableError, first_line, how_to_retry
from polyreward.core.logs import announce, warn
from polyreward.core.seals import sealed_folder
from polyreward.core.tables import REASON, read_sealed, write_unavailable
from polyreward.core.yaml_files import read_yaml

FILE = "missing.json"


@contextmanager
def scores_or_reason(
    files: Mapping[str, Mapping[str, str]], scorer: str, may_be_missing: bool
) -> Iterator[None]:
    """Write the reason into score files where a reward model is unavailable and may be missing.

    A file that was written before stays. Any other error is raised, since an empty row would hide an outage,
    a lack of memory or a fault of ours.

    Args:
        files: {score file: its benchmark, scorer and language, as write_unavailable takes them}.
    """
    for path in files:  # of an earlier run by hand; Snakemake has deleted its own
        Path(path).unlink(missing_ok=True)
    try:
        yield
    except UnavailableError as error:
        if not may_be_missing:
            raise
        unwritten = [path for path in files if not Path(path).exists()]
        for path in unwritten:
            write_unavailable(first_line(error), path, **files[path])
        if unwritten:
            warn(f"{scorer}: no scores, an empty row in tables. {how_to_retry(unwritten[0])}\n{error}")


@contextmanager
def policy_or_reason(output: str, scorer: str, may_be_missing: bool) -> Iterator[None]:
    """Leave the reason in a policy's folder where its reward model is unavailable and may be missing."""
    try:
        yield
    except UnavailableError as error:
        if not may_be_missing:
            raise
        with sealed_folder(output) as folder:
            _leave_in(folder, first_line(error))
        warn(f"{scorer}: no policy is trained with it. {how_to_retry(output)}\n{error}")


@contextmanager
def model_or_reason(folder: Path, output: str, may_be_missing: bool) -> Iterator[None]:
    """Leave the reason in a model's folder where the hub does not give the model and it may be missing.

    folder: where the job's output is made.
    """
    try:
        yield
    except UnavailableError as error:
        if not may_be_missing:
            raise
        _leave_in(folder, first_line(error))
        announce(f"{how_to_retry(output)}\n{error}")


def _leave_in(folder: Path, reason: str) -> None:
    (folder / FILE).write_text(json.dumps({"missing": reason}) + "\n", encoding="utf-8")


def missing_reason(folder: str | Path) -> str | None:
    """Return the reason in a model's folder, or None where the folder holds a model."""
    path = Path(folder, FILE)
    return json.loads(path.read_text(encoding="utf-8"))["missing"] if path.is_file() else None


def refuse_missing(folder: str | Path) -> None:
    """Raise UnavailableError where a model's folder holds a reason instead of a model."""
    reason = missing_reason(folder)
    if reason is not None:
        raise UnavailableError(reason)


def unavailable_files(results: Path) -> dict[str, str]:
    """Return {path: reason} of a results folder's score files, models and hub revisions without content."""
    work, found = results / "work", {}
    for path in work.glob("5_scores/**/*.parquet"):
        reason = read_sealed(path).attrs.get(REASON)
        found |= {path: reason} if reason else {}
    for path in work.glob(f"**/{FILE}"):
        found[path.parent] = missing_reason(path.parent)
    for path in work.glob("1_sources/revisions/*/*.yaml"):
        reason = read_yaml(path).get("missing")
        found |= {path: reason} if reason else {}
    return {str(path): found[path] for path in sorted(found)}


def with_reasons(caption: str, table: pd.DataFrame, column: str) -> str:
    """Add to a caption why rows are empty, by the column `missing`; `column` names the rows."""
    empty = table.dropna(subset="missing").drop_duplicates(column)
    reasons = [f"{name} ({why})" for name, why in empty[[column, "missing"]].itertuples(index=False)]
    return f"{caption} Not to be had: {'; '.join(reasons)}." if reasons else caption


def sizes_of(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return a table whose integer columns stay integers where a row has none."""
    return table.astype(dict.fromkeys(columns, "Int64"))
