"""Tables: tidy CSV and parquet, checked on write and on read."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import whole_file
from polyreward.core.inert import for_spreadsheets, from_spreadsheets
from polyreward.core.seals import METADATA, intact, sealed_file

DIGITS = 6  # after the point


def write_table(table: pd.DataFrame, path: str | Path, columns: Sequence[str]) -> None:
    """Write a table as CSV with exactly `columns`, numbers with six digits after the point.

    Raises PolyrewardError when a column is missing or one too many, or the table is empty."""
    check_columns(table, columns, path)
    write_csv(table[list(columns)], path, float_format=f"%.{DIGITS}f")


def read_table(path: str | Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV table and check its columns."""
    table = of_texts(pd.read_csv(path), from_spreadsheets)
    check_columns(table, columns, path)
    return table


def write_csv(table: pd.DataFrame, path: str | Path, float_format: str | None = None) -> None:
    """Write a table as CSV; no text in it is a formula to a spreadsheet. float_format: None for all
    digits."""
    with whole_file(path) as temporary:
        of_texts(table, for_spreadsheets).to_csv(
            temporary, index=False, float_format=float_format, lineterminator="\n"
        )


def of_texts(table: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    """Return a table with `change` done to the cells of its columns that may hold texts; the same one where
    none changes."""
    for name in table.columns:
        if not (is_numeric_dtype(table[name]) or is_bool_dtype(table[name])):
            before = list(table[name])
            after = [change(cell) for cell in before]
            if any(new is not old for new, old in zip(after, before, strict=True)):
                table = table.assign(**{name: after})
    return table


def write_exact(table: pd.DataFrame, path: str | Path, columns: Sequence[str]) -> None:
    """Write a table that later steps read as parquet with exactly `columns`: no digit is lost; errors as in
    write_table."""
    check_columns(table, columns, path)
    write_scores(table[list(columns)], path)


def read_exact(path: str | Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a table of write_exact and check its columns."""
    table = read_scores(path)
    check_columns(table, columns, path)
    return table


def as_written(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its numbers as write_table writes them, so that a figure shows what its CSV file
    holds."""
    return table.round(DIGITS)


def check_columns(table: pd.DataFrame, columns: Sequence[str], path: str | Path) -> None:
    """Raise PolyrewardError unless the table has rows and exactly these columns."""
    missing, extra = set(columns) - set(table.columns), set(table.columns) - set(columns)
    if missing or extra or table.empty:
        raise PolyrewardError(
            f"{path}: {len(table)} rows, missing columns {sorted(missing)}, unknown columns {sorted(extra)}; "
            f"it has exactly {', '.join(columns)}"
        )


def write_scores(table: pd.DataFrame, path: str | Path) -> None:
    """Write scores as parquet that carries its checksum (see seals.py); no digit is lost."""
    import pyarrow as pa  # what waits for no parquet waits for no pyarrow
    from pyarrow.parquet import ParquetWriter

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    with sealed_file(path) as temporary, ParquetWriter(temporary, arrow.schema) as writer:
        writer.write_table(arrow)
        writer.add_key_value_metadata(METADATA)


def read_scores(path: str | Path) -> pd.DataFrame:
    """Read scores of write_scores; raises PolyrewardError where the file changed since it was written."""
    return pd.read_parquet(intact(path))
