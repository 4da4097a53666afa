"""Our tables next to the papers' printed ones, cell by cell."""

from collections.abc import Sequence

import pandas as pd

COLUMNS = ["row", "column", "ours_model", "printed_model", "ours", "printed", "difference", "pairing"]
SAME, OTHER = "same model", "models and scale differ"


def long_cells(
    table: pd.DataFrame, models: pd.Series, rows: pd.Series, columns: Sequence[str]
) -> pd.DataFrame:
    """Return model, row, column and value of each cell that has a value; models, rows: one per table row."""
    keyed = table[list(columns)].assign(model=models, row=rows)
    return keyed.melt(["model", "row"], list(columns), var_name="column", value_name="value").dropna(
        subset=["row", "value"]
    )


def paired(ours: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return a row (COLUMNS) for each cell (of long_cells) that we and the paper both have, and each pair of
    models.

    A model of ours is paired with the printed one of its name, whatever the case. One without such a
    counterpart is paired with every printed one that has none either."""
    ours, printed = (
        table.rename(columns={"value": name, "model": f"{name}_model"})
        for name, table in {"ours": ours, "printed": printed}.items()
    )
    pairs = pd.merge(ours, printed, on=["row", "column"])
    same = pairs["ours_model"].str.lower() == pairs["printed_model"].str.lower()
    settled = pairs["ours_model"].isin(pairs["ours_model"][same]) | pairs["printed_model"].isin(
        pairs["printed_model"][same]
    )
    pairs = pairs.assign(
        difference=pairs["ours"] - pairs["printed"], pairing=same.map({True: SAME, False: OTHER})
    )
    return pairs[same | ~settled][COLUMNS]
