"""Lay out each reward model's consistency over languages."""

import pandas as pd

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.perturbation.sensitivity import CONSISTENCY_COLUMNS
from polyreward.core.tables import read_exact
from polyreward.ops.jobs import run


def display_consistency(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out the table in text cells; confidence: the intervals' level ("95%")."""
    heads = {"consistency": "all pairs", "own": "with the prompt's language", "others": "without it"}
    shown = table[["scorer", "kind"]].copy()
    for part, head in heads.items():
        estimates = table[[part, f"{part}_low", f"{part}_high"]].itertuples(index=False)
        shown[f"{head} [{confidence}]"] = [
            "" if pd.isna(mean) else f"{mean:.2f} [{low:.2f}, {high:.2f}]" for mean, low, high in estimates
        ]
    pairs = zip(table["lowest_pair"], table["lowest"], strict=True)
    shown["least consistent"] = ["" if pd.isna(lowest) else f"{pair} {lowest:.2f}" for pair, lowest in pairs]
    for name, head in (("n_pairs", "pairs"), ("n_items", "items"), ("note", "note")):
        shown[head] = table[name].astype(str)
    return shown


def main(snakemake):
    params, table = snakemake.params, read_exact(snakemake.input[0], CONSISTENCY_COLUMNS)
    shown = display_consistency(table, params.confidence)
    write_artifact(
        table, CONSISTENCY_COLUMNS, params.caption, "carb_consistency_table", snakemake.output, shown
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
