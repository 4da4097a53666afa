"""Compare all scorers on one language's twins."""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from polyreward.analysis.accuracy import correctness
from polyreward.analysis.bootstrap import Interval, resampled_means, share_interval
from polyreward.analysis.comparison import tables_of_same_pairs
from polyreward.core.kinds import is_baseline
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run

MEASURES = [
    f"{name}_{part}"
    for name in ("pair_accuracy", "both_right", "sum_right")
    for part in ("pct", "low", "high")
]
TWIN_COLUMNS = ["eval_language", "section", "scorer", "kind", *MEASURES, "n_families"]


def twin_table(
    scores: pd.DataFrame,
    sheet: pd.DataFrame,
    sections: Mapping[str, Collection[str]],
    interval: Interval,
) -> pd.DataFrame:
    """Return twins.csv's rows of one language: each section, and all families together.

    sheet: of its scorers."""
    tables, records = tables_of_same_pairs(scores), []
    for section, subsets in {"all": scores["subset"].unique(), **sections}.items():
        for name, table in tables.items():
            own = table[table["subset"].isin(subsets)]
            if own.empty:
                continue
            kind = "baseline" if is_baseline(sheet.at[name, "kind"]) else "reward model"
            ties = sheet.at[name, "ties"]
            key = {"eval_language": own["language"].iloc[0], "section": section, "scorer": name, "kind": kind}
            records.append({**key, **twin_row(own, ties, interval)})
    return pd.DataFrame(records)


def twin_row(scores: pd.DataFrame, ties: str, interval: Interval) -> dict[str, float]:
    """Return how a scorer does on twins, in percent, with intervals over families.

    pair_accuracy: over pairs. both_right: both pairs of a family. sum_right: a family's two margins sum to
    more than zero (a tie counts as `ties` says)."""
    margin = scores["score_chosen"] - scores["score_rejected"]
    table = scores.assign(right=correctness(scores, ties), margin=margin)
    families = table.groupby("template").agg(right=("right", "mean"), margin=("margin", "sum"))
    zero = families["margin"].abs() < 1e-9  # an answer-only scorer's two margins cancel, but for rounding
    tie_value = {"wrong": 0.0, "half": 0.5}[ties]
    measures = {
        "pair_accuracy": families["right"],
        "both_right": (families["right"] == 1.0).astype(float),
        "sum_right": (families["margin"] > 0).astype(float).mask(zero, tie_value),
    }
    row = {}
    for name, values in measures.items():
        draws = resampled_means(values.to_numpy(), interval, "twins", name)
        drawn = np.append(values.mean(), draws)
        low, high = share_interval(drawn, interval.confidence, len(values) - 1, len(values))
        row |= {f"{name}_pct": 100 * values.mean(), f"{name}_low": 100 * low, f"{name}_high": 100 * high}
    return {**row, "n_families": len(families)}


def main(snakemake):
    params = snakemake.params
    interval, sections = Interval(**params.interval), params.benchmark["sections"]
    scores, sheet = read_scores(snakemake.input.scores), read_sheet(snakemake.input.sheet)
    table = twin_table(scores, sheet, sections, interval)
    write_table(table, snakemake.output[0], TWIN_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
