"""Lay out what reward models know of places beyond their base, and the source language beyond each other."""

import pandas as pd

from polyreward.artifacts.renderings import as_cells, with_interval, write_artifact
from polyreward.carb.culture.comparison import DIFFERENCE_COLUMNS, WITH_ENDS
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run


def display_differences(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells; confidence: such as "95%"."""
    minus = table["minus"].where(table["minus"] != table["scorer"], "the same")
    shown = table[["scorer", "language"]].assign(minus=minus + ", " + table["minus_language"])
    for name in WITH_ENDS:
        ends = ("low", "high") if name == "swaps" else (f"{name}_low", f"{name}_high")
        cells = [with_interval(*row, "+.1f") for row in table[[name, *ends]].itertuples(index=False)]
        shown[f"{name.replace('_', ' ')} [{confidence}]"] = cells
    shown["place share"] = as_cells(table["place_share"], "+.0f")
    for name in ("quartets", "topics"):
        shown[name] = as_cells(table[name])
    return shown.assign(note=table["note"]) if (table["note"] != "").any() else shown


def main(snakemake):
    params, table = snakemake.params, read_exact(snakemake.input[0], DIFFERENCE_COLUMNS)
    shown = display_differences(table, params.confidence)
    name = "carb_culture_differences"
    write_artifact(table, DIFFERENCE_COLUMNS, params.caption, name, snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
