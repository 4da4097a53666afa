"""Make the table of a user's own benchmark."""

from collections.abc import Sequence

import pandas as pd

from polyreward.analysis.accuracy import ALL, chance, subset_summary
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.files import read_jsonl
from polyreward.core.kinds import is_baseline
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores
from polyreward.ops.jobs import run

OWN_COLUMNS = [
    *("scorer", "kind", "subset", "accuracy_pct", "low", "high"),
    *("n_items", "chance_pct", "truncated_pct", "n_within_noise"),
]


def own_table(
    scores: pd.DataFrame,
    rows: Sequence[dict],
    sheet: pd.DataFrame,
    confidence: float,
) -> pd.DataFrame:
    """Return every scorer's accuracy on each subset and on all items of a user's own benchmark.

    Intervals count the items of a template as one. sheet: of its scorers."""
    subsets: dict[str, list[dict]] = {}
    for row in rows:
        subsets.setdefault(row["subset"], []).append(row)
    chances = {subset: chance(own) for subset, own in {**subsets, ALL: rows}.items()}
    tables = []
    for name, table in scores.groupby("scorer", sort=False):
        ties = sheet.at[name, "ties"]
        summary = subset_summary(table, ties, confidence, table["template"])
        kind = "baseline" if is_baseline(sheet.at[name, "kind"]) else "reward model"
        tables.append(summary.assign(scorer=name, kind=kind, chance_pct=summary["subset"].map(chances)))
    return pd.concat(tables)


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    scores, rows = read_scores(files.scores), read_jsonl(files.rows)
    table = own_table(scores, rows, read_sheet(files.sheet), params.confidence)
    name = f"benchmark_{snakemake.wildcards.benchmark}"
    write_artifact(table, OWN_COLUMNS, params.caption, name, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
