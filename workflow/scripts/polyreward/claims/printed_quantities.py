"""Quantities of printed tables: a claim that these can test needs no run.

`where`, `of` and `minus` choose cells of a table: {column: value or list of values}. The name of the column
of numbers is itself one of these columns, as `column`. `each` names one of them: the quantity has a contrast
for each of its values, else one for the mean."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.verdicts import from_correlations, from_normal
from polyreward.claims.estimate import Estimate, require
from polyreward.claims.printed import Printed

COLUMN = "column"
Choice = dict[str, str | list[str]]
TEST = "normal interval from binomial errors, unpaired"


def printed_mean(printed: Printed, table: str, where: Choice, each: str | None = None) -> Estimate:
    """Return the mean of some printed cells, or of those of each value of one column."""
    cells = _chosen(_cells(printed, table), where, table)
    groups = [rows for _, rows in cells.groupby(each, sort=False)] if each else [cells]
    return _estimate(printed, table, [_mean(rows) for rows in groups], cells)


def printed_lead(
    printed: Printed, table: str, of: Choice, minus: Choice, each: str | None = None
) -> Estimate:
    """Return the mean of some printed cells minus the mean of others.

    each: a column that `of` chooses from leads over each of the other values; of any other column, the two
    sides are compared value by value."""
    cells = _cells(printed, table)
    first, second = _chosen(cells, of, table), _chosen(cells, minus, table)
    second = second[~second.index.isin(first.index)]
    require(len(second), f"printed/{table}.csv: `minus` chooses no cells but those of `of`")
    if each is None:
        pairs = [(first, second)]
    elif each in of:
        pairs = [(first, rows) for _, rows in second.groupby(each, sort=False)]
    else:
        there = [value for value in first[each].unique() if value in set(second[each])]
        require(there, f"printed/{table}.csv: `of` and `minus` have no `{each}` in common")
        pairs = [(first[first[each] == value], second[second[each] == value]) for value in there]
    found = [(_mean(one), _mean(other)) for one, other in pairs]
    leads = [(a - b, float(np.hypot(error, other))) for (a, error), (b, other) in found]
    return _estimate(printed, table, leads, pd.concat([first, second]))


def printed_correlation(
    printed: Printed, table: str, where: Choice, over: str, with_table: str, with_column: str
) -> Estimate:
    """Correlate the mean printed number of each value of a column with a column of another table.

    over: the column of `table`, whose values are in the first key of `with_table`."""
    cells = _chosen(_cells(printed, table), where, table)
    others = printed.table(with_table, [with_column])
    key = printed.facts["tables"][with_table]["keys"][0]
    both = pd.DataFrame({"mean": cells.groupby(over)["value"].mean()}).join(
        others.set_index(key)[with_column], how="inner"
    )
    require(
        len(both) > 3 and both.nunique().min() > 1,
        f"printed/{table}.csv and printed/{with_table}.csv share too few values of `{over}` or equal ones",
    )
    r = both.corr().iloc[0, 1]
    return Estimate(
        from_correlations([r], len(both)),
        len(both),
        f"values of {key}",
        "Fisher's interval of a correlation",
    )


def _cells(printed: Printed, name: str) -> pd.DataFrame:
    """Return a row for each cell that has a number: the keys, column, value, pairs and items.

    items: cells of the same items err alike. Without the number of pairs, pairs is NaN."""
    facts = printed.facts["tables"].get(name, {})
    keys = facts.get("keys", [])
    table = printed.table(name, keys)
    pairs, columns = facts.get("pairs"), list(table.columns.drop(keys))
    long = table.melt(keys, columns, COLUMN).dropna(subset="value")
    own = isinstance(pairs, Mapping)
    counts = long[COLUMN].map(pairs) if own else pairs
    return long.assign(pairs=counts, items=long[COLUMN] if own else "all", holds=facts.get("holds", "share"))


def _chosen(cells: pd.DataFrame, choice: Choice, table: str) -> pd.DataFrame:
    for column, values in choice.items():
        require(column in cells, f"printed/{table}.csv has no column `{column}`")
        wanted = [values] if isinstance(values, str) else values
        lacking = [value for value in wanted if value not in set(cells[column])]
        require(not lacking, f"printed/{table}.csv has no `{column}` {', '.join(lacking)}")
        cells = cells[cells[column].isin(wanted)]
    require(len(cells), f"printed/{table}.csv: no cell is chosen")
    return cells


def _mean(cells: pd.DataFrame) -> tuple[float, float]:
    """Return the mean of cells and its standard error: cells of the same items err alike, others do not."""
    share, counted = cells["value"] / 100, cells["pairs"].astype(float)
    # The levels of a difference are not known: the widest error that two shares can have
    spread = np.where(cells["holds"] == "difference", 2 * 0.25, share * (1 - share))
    errors = pd.Series(100 * np.sqrt(spread / counted), cells.index)
    together = errors.groupby(cells["items"]).sum() / len(cells)
    return float(cells["value"].mean()), float(np.sqrt((together**2).sum()))


def _estimate(
    printed: Printed, name: str, found: Sequence[tuple[float, float]], cells: pd.DataFrame
) -> Estimate:
    require(
        cells["pairs"].notna().all(),
        f"paper.yaml has no `pairs` of table {name}, so that its numbers have no intervals",
    )
    points, errors = map(np.array, zip(*found, strict=True))
    n = int(cells.drop_duplicates("items")["pairs"].sum())
    return Estimate(from_normal(points, errors), n, "pairs", TEST)
