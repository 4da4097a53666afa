"""Lay out what judges learn."""

from collections.abc import Mapping

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts.renderings import as_cells, with_interval, write_artifact
from polyreward.core.tables import read_exact, scorers_of
from polyreward.ops.jobs import run
from polyreward.think_as_locals.comparison import display_names
from polyreward.think_as_locals.learning import COLUMNS, learning_table
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS


def display(table: pd.DataFrame, names: Mapping[str, str], confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells; names: {judge: its description}; confidence: such as "95%"."""
    rows = table[["r_corr", "r_corr_low", "r_corr_high"]].itertuples(index=False)
    return pd.DataFrame(
        {
            "judge": display_names(table["judge"], names),
            f"R_corr [{confidence}]": [with_interval(*row, "+z.3f") for row in rows],
            "right verdicts, %": as_cells(table["right_pct"], ".0f"),
            "same answer in both orders, %": as_cells(table["consistent_pct"], ".0f"),
            "replies in form, %": as_cells(table["in_form_pct"], ".0f"),
            "questions": table["n_questions"].astype(str),
            "items": table["n_items"].astype(str),
            "seeds": table["n_seeds"].astype(str),
        }
    )


def main(snakemake):
    params = snakemake.params
    table = pd.concat([read_exact(path, HELD_OUT_COLUMNS) for path in snakemake.input])
    tables = dict(list(table.groupby("judge")))
    # A repeat is another training of `full`.
    seeds = {name: [name] for name in scorers_of(snakemake.input) if name not in params.repeats}
    seeds["full"] += params.repeats
    contrasts = [("full", name) for name in seeds if name != "full"]
    table = learning_table(tables, seeds, contrasts, Interval(**params.interval))
    shown = display(table, params.names, params.confidence)
    write_artifact(table, COLUMNS, params.caption, "carb_locals_learning", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
