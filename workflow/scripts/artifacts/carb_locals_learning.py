"""Lay out what judges learn."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run
from polyreward.think_as_locals.learning import COLUMNS, learning_table
from polyreward.think_as_locals.replies import HELD_OUT_COLUMNS


def display(table: pd.DataFrame, names: Mapping[str, str], confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells; names: {judge: its description}; confidence: the intervals' level
    ("95%").
    """

    def name(judge: str) -> str:
        return " - ".join(names[part] for part in judge.split(" - "))

    ends = zip(table["r_corr"], table["r_corr_low"], table["r_corr_high"], strict=True)
    return pd.DataFrame(
        {
            "judge": [name(judge) for judge in table["judge"]],
            f"R_corr [{confidence}]": [_shown(*of_judge) for of_judge in ends],
            "right verdicts, %": ["" if np.isnan(share) else f"{share:.0f}" for share in table["right_pct"]],
            "replies in form, %": [
                "" if np.isnan(share) else f"{share:.0f}" for share in table["in_form_pct"]
            ],
            "questions": table["n_questions"].astype(str),
            "items": table["n_items"].astype(str),
            "seeds": table["n_seeds"].astype(str),
        }
    )


def _shown(value: float, low: float, high: float) -> str:
    return f"{value:+z.3f}" + ("" if np.isnan(low) else f" [{low:+z.3f}, {high:+z.3f}]")


def main(snakemake):
    params = snakemake.params
    table = pd.concat([read_exact(path, HELD_OUT_COLUMNS) for path in snakemake.input])
    tables = dict(list(table.groupby("judge")))
    table = learning_table(tables, params.seeds, params.contrasts, Interval(**params.interval))
    shown = display(table, params.names, params.confidence)
    write_artifact(table, COLUMNS, params.caption, "carb_locals_learning", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
