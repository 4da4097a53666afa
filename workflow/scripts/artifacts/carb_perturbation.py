"""Lay out how far each rewrite moves each reward model's scores."""

import numpy as np
import pandas as pd

from polyreward.artifacts.renderings import as_cells, with_interval, write_artifact
from polyreward.carb.perturbation.sensitivity import INDEX, PERTURBATION_COLUMNS
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run


def display_perturbations(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells, a row per scorer; confidence: such as "95%"."""
    # An index has no interval where draws of items are among the bootstrap's of which no score moves.
    how, shown = ("+.2f", " [not known]"), []
    for (name, kind), rows in table.groupby(["scorer", "kind"], sort=False):
        first, changes = rows.iloc[0], rows[["perturbation", "change", "low", "high"]].itertuples(index=False)
        percents = rows[["perturbation", "percent"]].itertuples(index=False)
        shown.append(
            {
                "scorer": name,
                "kind": kind,
                **{f"{rewrite} [{confidence}]": with_interval(*change, *how) for rewrite, *change in changes},
                f"index [{confidence}]": with_interval(*first[INDEX], *how),
                "change of a score with a zero, %": ", ".join(
                    f"{rewrite} {value:+.1f}" for rewrite, value in percents if np.isfinite(value)
                ),
                "CC lower, %": as_cells([first["lower_pct"]], ".0f")[0],
                "items": str(first["n_items"]),
                "note": first["note"],
            }
        )
    return pd.DataFrame(shown)


def main(snakemake):
    params, table = snakemake.params, read_exact(snakemake.input[0], PERTURBATION_COLUMNS)
    shown = display_perturbations(table, params.confidence)
    write_artifact(table, PERTURBATION_COLUMNS, params.caption, "carb_perturbation", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
