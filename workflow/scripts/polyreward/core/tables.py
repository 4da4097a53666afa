"""Tidy CSV and Parquet tables, checked on writing and on reading."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import whole_file
from polyreward.core.inert import for_spreadsheets, from_spreadsheets
from polyreward.core.seals import METADATA, intact, sealed_file

DIGITS = 6  # after the point
IDENTITY = ("benchmark", "scorer", "language")  # the first columns of every score file
# `policy`: whose answers are scored; `candidate`: of an item of several answers, a row each
SCORE_KEY = (*IDENTITY, "policy", "id", "candidate")
# Columns of p-values. Below LEAST_P, six decimals would show fewer than three digits.
P_VALUES = ("p", "p_holm", "p_mcnemar", "p_permuted", "p_seeds", "p_value", "z_p")
LEAST_P = 1e-4
# Columns of texts, which are read as text: a model may be called 1.10, and a subset 001. `run` is not here:
# in judgements it is a number, and elsewhere a name that no user chooses.
NAMES = (
    *("asks", "base", "base_model", "baseline", "benchmark", "category", "check", "claim", "column"),
    *("culture", "cultures", "data", "direction", "domain", "downstream", "engine", "eval_language"),
    *("from_culture", "group", "id", "item", "judge", "key", "kind", "labeller", "labels", "language"),
    *("language_1", "language_2", "minus", "minus_language", "missing", "model", "models", "n_of", "name"),
    *("note", "null_of", "ours_model", "pairing", "panel", "paper", "part", "perturbation", "policy"),
    *("printed_model", "quantity", "rating", "rejected", "reward_model", "rm_language", "rm_training"),
    *("row", "rule", "rule_sha256", "says", "scorer", "section", "selection", "side", "slice", "source"),
    *("speaks_of", "subset", "tables", "taught_in", "template", "test", "text", "trained_in", "unit"),
    *("use", "verdict", "what", "where", "against", "level"),
)
REASON = "unavailable"  # the key in a Parquet file's metadata, where pandas keeps a table's `attrs`


def write_table(table: pd.DataFrame, path: str | Path, columns: Sequence[str]) -> None:
    """Write a table as CSV with exactly `columns`, numbers with DIGITS decimals, p-values by `p_digits`."""
    check_columns(table, columns, path)
    p_values = {name: table[name].map(p_digits, na_action="ignore") for name in columns if name in P_VALUES}
    write_csv(table[list(columns)].assign(**p_values), path, float_format=f"%.{DIGITS}f")


def p_digits(p: float) -> str:
    """Return a p-value with DIGITS decimals, or with three significant digits below LEAST_P; never 0.

    A p of 0 is below the smallest number of float64, which is then written."""
    if round(p, DIGITS) >= LEAST_P:
        return f"{p:.{DIGITS}f}"
    return f"{max(p, np.finfo(float).tiny):.2e}"


def p_text(p: float) -> str:
    """Return a p-value as tables for readers show it: 0.012, <0.001, or nothing where it is missing."""
    if pd.isna(p):
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def read_csv(path: str | Path, **options: Any) -> pd.DataFrame:
    """Read a CSV file of ours: columns of NAMES are text, and only an empty cell is missing, since `nan` is a
    language."""
    types = {**dict.fromkeys(NAMES, str), **options.pop("dtype", {})}
    table = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""], **options)
    return map_cells(table, from_spreadsheets)


def read_table(path: str | Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV table and check its columns."""
    table = read_csv(path)
    check_columns(table, columns, path)
    return table


def as_markdown(table: pd.DataFrame, **options: Any) -> str:
    """Return a table as Markdown in which a name stays text, also one like `001`."""
    texts = [n for n in range(table.shape[1]) if any(isinstance(cell, str) for cell in table.iloc[:, n])]
    return table.to_markdown(index=False, disable_numparse=texts, **options)


def write_csv(table: pd.DataFrame, path: str | Path, float_format: str | None = None) -> None:
    """Write a table as CSV in which no text is a formula to a spreadsheet."""
    with whole_file(path) as temporary:
        map_cells(table, for_spreadsheets).to_csv(
            temporary, index=False, float_format=float_format, lineterminator="\n"
        )


def map_cells(table: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    """Return a table with `change` applied to the cells of the columns that may hold texts."""
    for name in table.columns:
        if not (is_numeric_dtype(table[name]) or is_bool_dtype(table[name])):
            before = list(table[name])
            after = list(map(change, before))
            if any(new is not old for new, old in zip(after, before, strict=True)):  # else its type stays
                table = table.assign(**{name: after})
    return table


def write_exact(table: pd.DataFrame, path: str | Path, columns: Sequence[str]) -> None:
    """Write a table for later steps as Parquet with exactly `columns` and all digits."""
    check_columns(table, columns, path)
    write_sealed(table[list(columns)], path)


def read_exact(path: str | Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a table that write_exact wrote and check its columns."""
    table = read_sealed(path)
    check_columns(table, columns, path)
    return table


def as_written(table: pd.DataFrame) -> pd.DataFrame:
    """Round a table's numbers as write_table does, so that a figure shows what its CSV holds."""
    p_values = {name: table[name].map(p_digits, na_action="ignore") for name in table if name in P_VALUES}
    return table.round(DIGITS).assign(**{name: texts.astype(float) for name, texts in p_values.items()})


def check_columns(table: pd.DataFrame, columns: Sequence[str], path: str | Path) -> None:
    """Raise PolyrewardError unless the table has rows and exactly these columns."""
    missing, extra = set(columns) - set(table.columns), set(table.columns) - set(columns)
    if table.empty and not (missing or extra):
        raise PolyrewardError(f"{path}: the table has no rows, so there is nothing to show or to compare")
    if missing or extra:
        raise PolyrewardError(
            f"{path}: {len(table)} rows, missing columns {sorted(missing)}, unknown columns {sorted(extra)}; "
            f"it has exactly {', '.join(columns)}"
        )


def write_sealed(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as Parquet with its checksum (see seals.py) and all digits."""
    import pyarrow as pa  # imported late: the Snakefile imports this module, and pyarrow takes a while
    from pyarrow.parquet import ParquetWriter

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    with sealed_file(path) as temporary, ParquetWriter(temporary, arrow.schema) as writer:
        writer.write_table(arrow)
        writer.add_key_value_metadata(METADATA)


def read_sealed(path: str | Path) -> pd.DataFrame:
    """Read a table that write_sealed wrote; raise PolyrewardError if the file has changed."""
    return pd.read_parquet(intact(path))


def write_scores(
    table: pd.DataFrame, path: str | Path, *, benchmark: str, scorer: str, language: str | None = None
) -> None:
    """Write one scorer's scores on one benchmark as Parquet, with the columns IDENTITY in front.

    Args:
        table: `id` and one or more columns `score...`.
        language: None where the table has a column `language` of its own.
    """
    language = table["language"] if language is None else language
    identity = {"benchmark": benchmark, "scorer": scorer, "language": language}
    named = table.assign(**identity)
    named = named[[*identity, *(name for name in table.columns if name not in identity)]]
    raise_all(_score_faults(named, path), "scores")
    write_sealed(named, path)


def write_unavailable(
    reason: str, path: str | Path, *, benchmark: str, scorer: str, language: str | None = None
) -> None:
    """Write a score file without rows whose metadata hold the scorer and the reason."""
    table = pd.DataFrame({name: pd.Series(dtype=object) for name in (*IDENTITY, "id")})
    table.attrs = {"benchmark": benchmark, "scorer": scorer, "language": language, REASON: reason}
    write_sealed(table, path)


def read_scores(paths: str | Path | Iterable[str | Path]) -> pd.DataFrame:
    """Read one score file or several as one table; files without rows add none (see `unavailable`).

    Raises:
        PolyrewardError: files lack a column, have scores that are not finite or of different kinds, or have
            the same score twice.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    tables = {str(path): read_sealed(path) for path in paths}
    raise_all([fault for path, table in tables.items() for fault in _score_faults(table, path)], "scores")
    filled = {path: table for path, table in tables.items() if len(table)}
    if not filled:
        return next(iter(tables.values())) if tables else pd.DataFrame(columns=[*IDENTITY, "id"])
    kinds = {path: ", ".join(_score_columns(table)) for path, table in filled.items()}
    first, expected = next(iter(kinds.items()))
    others = {path: kind for path, kind in kinds.items() if kind != expected}
    but = f"but {first} has {expected}. Read them separately."
    raise_all((f"{path} has {kind}, {but}" for path, kind in others.items()), "scores")
    together = pd.concat([table.assign(_path=path) for path, table in filled.items()], ignore_index=True)
    key = [name for name in SCORE_KEY if name in together]
    twice = together[together.duplicated(key, keep=False)]
    if len(twice):
        example = twice[key].iloc[0]
        files = sorted(twice.loc[(twice[key] == example).all(axis=1), "_path"].unique())
        raise PolyrewardError(
            f"{' and '.join(files)}: {', '.join(map(str, example))} has two scores; name each score file once"
        )
    return together.drop(columns="_path")


def unavailable_reasons(paths: str | Path | Iterable[str | Path]) -> dict[str, str]:
    """Return {scorer: reason} of the score files whose scorer could not be loaded or run."""
    paths = [paths] if isinstance(paths, str | Path) else paths
    found = [read_sealed(path).attrs for path in paths]
    return {attrs["scorer"]: attrs[REASON] for attrs in found if REASON in attrs}


def parse_score_path(path: str | Path) -> dict[str, str]:
    """Return what the path of a score file names, as arguments of `write_scores`."""
    return dict(zip(IDENTITY, [*Path(path).parts[-3:-1], Path(path).stem], strict=True))


def scorers_of(paths: Iterable[str | Path]) -> list[str]:
    """Return the scorers that the paths of score files name, in their order."""
    return list(dict.fromkeys(parse_score_path(path)["scorer"] for path in paths))


def _score_columns(table: pd.DataFrame) -> list[str]:
    return [name for name in table.columns if name == "score" or name.startswith("score_")]


def _score_faults(table: pd.DataFrame, path: str | Path) -> Iterator[str]:
    missing = [name for name in (*IDENTITY, "id") if name not in table]
    scores = _score_columns(table)
    if missing or (len(table) and not scores):
        needs = ", ".join([*missing, *([] if scores or table.empty else ["score"])])
        yield f"{path}: no column {needs}. Delete the file and run the same command again."
        return
    for name in scores:
        bad = table.loc[~np.isfinite(table[name].to_numpy(dtype="float64")), "id"]
        if len(bad):
            yield (
                f"{path}: {len(bad)} values of {name} are NaN or infinite (first: id {bad.iloc[0]})."
                " Delete the file and run the same command again."
            )


def check_numbers(scores: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise PolyrewardError that names the file, where a score of a table in memory is not a number."""
    bad = scores[scores[list(columns)].isna().any(axis=1)]
    if len(bad):
        parts = [str(bad[name].iloc[0]) for name in IDENTITY if name in bad]
        one = f" (first: id {bad['id'].iloc[0]})" if "id" in bad else ""
        place = f"work/5_scores/{'/'.join(parts)}.parquet" if len(parts) == len(IDENTITY) else "scores"
        raise PolyrewardError(
            f"{place}: {len(bad)} rows have a score that is not a number{one}. Delete the file and run the"
            " same command again"
        )
