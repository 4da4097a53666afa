"""Lay out how far each rewrite moves each reward model's scores."""

import numpy as np
import pandas as pd

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.perturbation.sensitivity import INDEX, PERTURBATION_COLUMNS
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run


def display_perturbations(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells, a row per scorer; confidence: the intervals' level ("95%")."""
    shown = []
    for (name, kind), rows in table.groupby(["scorer", "kind"], sort=False):
        first, changes = rows.iloc[0], rows[["perturbation", "change", "low", "high"]].itertuples(index=False)
        cells = {
            f"{perturbation} [{confidence}]": _with_interval(*change) for perturbation, *change in changes
        }
        shown.append(
            {
                "scorer": name,
                "kind": kind,
                **cells,
                f"index [{confidence}]": _with_interval(*first[INDEX]),
                "change of a score with a zero, %": ", ".join(
                    f"{p} {v:+.1f}"
                    for p, v in rows[["perturbation", "percent"]].itertuples(index=False)
                    if np.isfinite(v)
                ),
                "CC lower, %": "" if pd.isna(first["lower_pct"]) else f"{first['lower_pct']:.0f}",
                "items": str(first["n_items"]),
                "note": first["note"],
            }
        )
    return pd.DataFrame(shown)


def _with_interval(value: float, low: float, high: float) -> str:
    if pd.isna(value):
        return ""
    # An index has no interval where draws of items are among the bootstrap's of which no score moves.
    return f"{value:+.2f} [not known]" if pd.isna(low) else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def main(snakemake):
    params, table = snakemake.params, read_exact(snakemake.input[0], PERTURBATION_COLUMNS)
    shown = display_perturbations(table, params.confidence)
    write_artifact(table, PERTURBATION_COLUMNS, params.caption, "carb_perturbation", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
