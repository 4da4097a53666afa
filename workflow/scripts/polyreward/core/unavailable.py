"""Scores that are unavailable, and the reasons. With `missing: row`, a table shows them as an empty row.

A score file without rows carries the reason in its metadata. A model's folder holds it in a file.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

import pandas as pd

from polyreward.core.errors import UnavailableError, first_line, how_to_retry, is_outage
from polyreward.core.logs import announce
from polyreward.core.seals import sealed_folder
from polyreward.core.tables import REASON, parse_score_path, read_sealed, write_unavailable
from polyreward.core.yaml_files import read_yaml

FILE = "missing.json"
OWN_CODE = "transformers_modules"  # the package in which transformers runs the code that a model brings
NO_MEMORY = "can't allocate memory"  # PyTorch's plain RuntimeError where a processor has none left


def may_be_missing(config: dict) -> bool:
    """Return whether a catalog model may be missing; no param of jobs, so that a change rescores nothing."""
    return config["missing"] == "row"


def catalog_models(config: dict) -> list[str]:
    """Return the catalog's reward models that a scale scores."""
    others = config["think_as_locals"].get("others", [])
    return [*config["off_the_shelf"], *(name for name in others if name not in config["reward_models"])]


def is_unavailable(error: BaseException) -> bool:
    """Return whether an error says that a reward model cannot be loaded or run, in this run or the next.

    That is an UnavailableError, too little memory, or a failure inside the code that the model brings."""
    torch = sys.modules.get("torch")  # if torch was not imported, it raised nothing
    kinds = (UnavailableError, MemoryError, *([torch.OutOfMemoryError] if torch else []))
    if isinstance(error, kinds) or (isinstance(error, RuntimeError) and NO_MEMORY in str(error)):
        return True
    frames = (Path(frame.f_code.co_filename) for frame, _ in walk_tb(error.__traceback__))
    return any(OWN_CODE in path.parts for path in frames) and not is_outage(error)


@contextmanager
def scores_or_reason(snakemake, scorer: str) -> Iterator[None]:
    """Write the reason into all score files where the job's catalog model is unavailable and may be missing.

    An outage or a fault of ours is raised, since an empty row would hide it."""
    files = [path for path in snakemake.output if Path(path).suffix == ".parquet"]
    try:
        yield
    except Exception as error:
        if not _may_be_left_out(error, snakemake.config, scorer):
            raise
        for path in files:
            write_unavailable(first_line(error), path, **parse_score_path(path))
        announce(f"{scorer}: no scores, an empty row in tables. {how_to_retry(files[0])}\n{error}")


@contextmanager
def policy_or_reason(snakemake, scorer: str) -> Iterator[None]:
    """Leave the reason in a policy's folder where its off-the-shelf reward model is unavailable."""
    output = snakemake.output[0]
    try:
        yield
    except Exception as error:
        if not _may_be_left_out(error, snakemake.config, scorer):
            raise
        with sealed_folder(output) as folder:
            _leave_in(folder, first_line(error))
        announce(f"{scorer}: no policy is trained with it. {how_to_retry(output)}\n{error}")


def _may_be_left_out(error: Exception, config: dict, scorer: str) -> bool:
    return may_be_missing(config) and scorer in catalog_models(config) and is_unavailable(error)


@contextmanager
def model_or_reason(folder: Path, snakemake) -> Iterator[None]:
    """Leave the reason in a model's folder where the hub does not give the model and it may be missing."""
    try:
        yield
    except UnavailableError as error:
        if not may_be_missing(snakemake.config):
            raise
        _leave_in(folder, first_line(error))
        announce(f"{how_to_retry(snakemake.output[0])}\n{error}")


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
