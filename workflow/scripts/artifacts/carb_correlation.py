"""Lay out the regressions of the picks' rating on the reward models' scores."""

import pandas as pd

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, OF
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run


def display_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out the table in text cells; the test's columns are empty in the second benchmark's rows."""
    shown = table[[*OF, "rating", "benchmark"]].assign(
        n=table["n"].astype(str), bases=table["n_bases"].astype(str)
    )
    ends = table[["slope", "slope_low", "slope_high", "hc3_low", "hc3_high"]].itertuples(index=False)
    slopes = [
        ["", ""] if pd.isna(s) else [f"{s:+.3f} [{a:+.3f}, {b:+.3f}]", f"[{c:+.3f}, {d:+.3f}]"]
        for s, a, b, c, d in ends
    ]
    shown[["slope", "slope under HC3"]] = slopes
    ends = table[["r", "r_low", "r_high"]].itertuples(index=False)
    shown["r"] = [
        "" if pd.isna(r) else f"{r:+.2f}" + ("" if pd.isna(a) else f" [{a:+.2f}, {b:+.2f}]")
        for r, a, b in ends
    ]
    for name, head in (
        ("p", "p"),
        ("hc3_p", "p under HC3"),
        ("r2", "r2"),
        ("r2_leave_one_out", "r2 left out"),
        ("spearman", "Spearman"),
        ("spearman_p", "p of Spearman"),
        ("p_permuted", "p by base"),
        ("reliability_rating", "reliability of the rating"),
        ("reliability_benchmark", "reliability of the benchmark"),
        ("z", "Steiger's z"),
        ("z_p", "p of z"),
        ("williams_t", "Williams' t"),
        ("williams_p", "p of t"),
    ):
        shown[head] = ["" if pd.isna(value) else f"{value:.3f}" for value in table[name]]
    return shown.assign(verdict=table["verdict"])


def main(snakemake):
    caption, table = snakemake.params.caption, read_exact(snakemake.input[0], CORRELATION_COLUMNS)
    shown = display_correlations(table)
    write_artifact(table, CORRELATION_COLUMNS, caption, "carb_correlation", snakemake.output, shown)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
