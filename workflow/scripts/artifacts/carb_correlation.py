"""Lay out the regressions of the picks' rating on the reward models' scores."""

import pandas as pd

from polyreward.artifacts.renderings import as_cells, with_interval, write_artifact
from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, OF
from polyreward.core.tables import P_VALUES, p_text, read_exact
from polyreward.ops.jobs import run

HEADS = {
    "p": "p",
    "r2": "r2",
    "p_permuted": "p by base",
    "reliability_rating": "reliability of the rating",
    "reliability_benchmark": "reliability of the benchmark",
    "z": "Steiger's z",
    "z_p": "p of z",
}


def display_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table in text cells; the test's columns are empty in the second benchmark's rows."""
    shown = table[[*OF, "rating", "benchmark"]].assign(
        n=table["n"].astype(str), bases=table["n_bases"].astype(str)
    )
    for name, form in (("slope", "+.3f"), ("r", "+.2f")):
        ends = table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
        shown[name] = [with_interval(*row, form) for row in ends]
    for name, head in HEADS.items():
        shown[head] = table[name].map(p_text) if name in P_VALUES else as_cells(table[name], ".3f")
    return shown.assign(verdict=table["verdict"])


def main(snakemake):
    caption, table = snakemake.params.caption, read_exact(snakemake.input[0], CORRELATION_COLUMNS)
    shown = display_correlations(table)
    write_artifact(table, CORRELATION_COLUMNS, caption, "carb_correlation", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
