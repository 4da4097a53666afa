"""The sheet of scorers as scripts read it: what each scorer is, by its name."""

from pathlib import Path

import pandas as pd

from polyreward.core.errors import raise_all
from polyreward.core.kinds import is_baseline

# benchmarks: as `name:language+language`, or `name:*` for all of the scale. tables: those that read a score.
# entry: how it is loaded, as JSON.
SHEET_COLUMNS = ["scorer", "kind", "base", "trained_in", "seed", "ties", "benchmarks", "tables", "entry"]
TIES = ("wrong", "half")
KNOCKOUT = "-knockout"  # after the name of a judge that plays CARB's items off in pairs


def read_sheet(path: str | Path) -> pd.DataFrame:
    """Return <results>/work/scorers.csv, a row for each scorer, by its name; `seed` is a number or missing.

    Raises:
        PolyrewardError: columns are missing, a name is there twice, or `ties` is unknown.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in SHEET_COLUMNS if name not in table]
    raise_all((f"no column {name}" for name in missing), f"{path}; delete it and run the same command again")
    twice = table.loc[table["scorer"].duplicated(), "scorer"]
    odd = table.loc[~table["ties"].isin(TIES), "scorer"]
    problems = [f"{name}: there are two such scorers" for name in twice]
    raise_all([*problems, *(f"{name}: ties are neither wrong nor half" for name in odd)], str(path))
    return table.assign(seed=pd.to_numeric(table["seed"]).astype("Int64")).set_index("scorer", drop=False)


def half_right(sheet: pd.DataFrame) -> list[str]:
    """Return the scorers whose ties are half right: baselines, and judges that may give no verdict."""
    return list(sheet.index[sheet["ties"] == "half"])


def baselines(sheet: pd.DataFrame) -> list[str]:
    """Return the scorers that are no reward models."""
    return list(sheet.index[sheet["kind"].map(is_baseline)])


def kinds(sheet: pd.DataFrame, scorers: list[str]) -> dict[str, str]:
    """Return {scorer: kind} of some scorers, in their order."""
    return {name: sheet.at[name, "kind"] for name in scorers}


def of_table(sheet: pd.DataFrame, table: str) -> list[str]:
    """Return the scorers that a table shows."""
    return [name for name, tables in sheet["tables"].items() if table in tables.split()]
