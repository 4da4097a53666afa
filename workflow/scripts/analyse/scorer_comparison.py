"""Compare all scorers of one benchmark and language."""

from collections.abc import Sequence

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import ESTIMATE
from polyreward.core.files import read_jsonl
from polyreward.core.kinds import is_baseline
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run

SCORER_COLUMNS = ["benchmark", "eval_language", "scorer", "kind", "slice", *ESTIMATE]
SUBSET_COLUMNS = [
    *("benchmark", "eval_language", "scorer", "kind", "section", "subset"),
    *("accuracy_pct", "low", "high", "n_pairs", "n_templates"),
]
# rejected: the kind of rejected answer (prepare/kinds.py)
KIND_COLUMNS = [name if name != "subset" else "rejected" for name in SUBSET_COLUMNS if name != "section"]


def length_slices(rows: Sequence[dict]) -> dict[str, list[str]]:
    """Return the ids of all pairs, and of those whose chosen answer is the longer or the shorter one."""
    slices = {"all": [row["id"] for row in rows], "chosen_longer": [], "chosen_shorter": []}
    for row in rows:
        difference = len(row["chosen"]) - len(row["rejected"])
        if difference:
            slices["chosen_longer" if difference > 0 else "chosen_shorter"].append(row["id"])
    return slices


def scorer_tables(
    scores: pd.DataFrame,
    rows: Sequence[dict],
    sheet: pd.DataFrame,
    benchmark: Benchmark,
    interval: Interval,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (rows of baselines.csv, rows of subsets.csv) for one benchmark and language.

    sheet: of its scorers."""
    of_scorer, of_subset, half = [], [], half_right(sheet)
    for slice_name, ids in length_slices(rows).items():
        if not ids:
            continue
        in_slice = scores[scores["id"].isin(ids)]
        comparison = Comparison(in_slice, benchmark, interval, half, slice_name != "all")
        for name in comparison.scorers:
            key = _key(comparison, name, sheet)
            of_scorer.append({**key, "slice": slice_name, **comparison.contrast({name: 1.0})})
            if slice_name == "all":
                of_subset.append(comparison.by_subset(name).assign(**key))
    return pd.DataFrame(of_scorer).reindex(columns=SCORER_COLUMNS), pd.concat(of_subset)


def kind_table(
    scores: pd.DataFrame,
    rows: Sequence[dict],
    sheet: pd.DataFrame,
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return rows of kinds.csv: each scorer's accuracy on each kind of rejected answer, or on `written`."""
    kinds = {row["id"]: row.get("kind", "written") for row in rows}
    by_kind = Benchmark(benchmark.name, {"": list(dict.fromkeys(kinds.values()))}, {})
    scores = scores.assign(subset=scores["id"].map(kinds))
    comparison = Comparison(scores, by_kind, interval, half_right(sheet))
    return pd.concat(
        comparison.by_subset(name)
        .rename(columns={"subset": "rejected"})
        .assign(**_key(comparison, name, sheet))
        for name in comparison.scorers
    )[KIND_COLUMNS]


def _key(comparison: Comparison, scorer: str, sheet: pd.DataFrame) -> dict[str, str]:
    return {
        "benchmark": comparison.benchmark.name,
        "eval_language": comparison.language,
        "scorer": scorer,
        "kind": "baseline" if is_baseline(sheet.at[scorer, "kind"]) else "reward model",
    }


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores, rows, sheet = read_scores(files.scores), read_jsonl(files.rows), read_sheet(files.sheet)
    scorers, subsets = scorer_tables(scores, rows, sheet, facts, interval)
    write_table(scorers, snakemake.output.scorers, SCORER_COLUMNS)
    write_table(subsets, snakemake.output.subsets, SUBSET_COLUMNS)
    kinds = kind_table(scores, rows, sheet, facts, interval)
    write_table(kinds, snakemake.output.kinds, KIND_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
