"""Make the table of a user's own benchmark."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.accuracy import ALL, chance, correctness, subset_summary
from polyreward.analysis.bootstrap import Interval, resampled_sections, share_interval
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
    interval: Interval,
) -> pd.DataFrame:
    """Return every scorer's accuracy on each subset and on all items of a user's own benchmark.

    Intervals are over items, or over templates where several items of a subset or of all have the same.
    sheet: of its scorers."""
    subsets: dict[str, list[dict]] = {}
    for row in rows:
        subsets.setdefault(row["subset"], []).append(row)
    chances = {subset: chance(own) for subset, own in {**subsets, ALL: rows}.items()}
    tables = []
    for name, table in scores.groupby("scorer", sort=False):
        ties = sheet.at[name, "ties"]
        summary = subset_summary(table, ties, interval.confidence).set_index("subset")
        for subset in summary.index:
            of_subset = table if subset == ALL else table[table["subset"] == subset]
            if of_subset["template"].duplicated().any():
                right = correctness(of_subset, ties)
                summary.loc[subset, ["low", "high"]] = over_templates(right, of_subset["template"], interval)
        summary = summary.reset_index()
        kind = "baseline" if is_baseline(sheet.at[name, "kind"]) else "reward model"
        tables.append(summary.assign(scorer=name, kind=kind, chance_pct=summary["subset"].map(chances)))
    return pd.concat(tables)


def over_templates(right: np.ndarray, templates: pd.Series, interval: Interval) -> list[float]:
    """Return the ends (%) of the interval of a mean over items, resampled by template."""
    one, names = [ALL] * len(right), list(templates)
    draws = resampled_sections(
        right[:, None], one, names, {ALL: len(right)}, {ALL: [ALL]}, interval.samples, interval.seed
    )
    units = len(set(names))
    values = np.append(right.mean(), draws[:, 0, 0])
    return [100 * end for end in share_interval(values, interval.confidence, units - 1, units)]


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    scores, rows = read_scores(files.scores), read_jsonl(files.rows)
    table = own_table(scores, rows, read_sheet(files.sheet), Interval(**params.interval))
    name = f"benchmark_{snakemake.wildcards.benchmark}"
    write_artifact(table, OWN_COLUMNS, params.caption, name, snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
