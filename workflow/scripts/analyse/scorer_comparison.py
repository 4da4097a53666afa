"""Compare all scorers of one benchmark and language."""

from collections.abc import Collection, Sequence

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import ESTIMATE
from polyreward.core.files import read_jsonl
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
    baselines: Collection[str],
    benchmark: Benchmark,
    interval: Interval,
    half_credit: Collection[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (rows of baselines.csv, rows of subsets.csv) for one benchmark and language.

    half_credit: reward models whose ties are half right, as a baseline's are."""
    of_scorer, of_subset, half_right = [], [], {*baselines, *half_credit}
    for slice_name, ids in length_slices(rows).items():
        if not ids:
            continue
        in_slice = scores[scores["id"].isin(ids)]
        comparison = Comparison(in_slice, benchmark, interval, half_right, slice_name != "all")
        for name in comparison.scorers:
            key = _key(comparison, name, baselines)
            of_scorer.append({**key, "slice": slice_name, **comparison.contrast({name: 1.0})})
            if slice_name == "all":
                of_subset.append(comparison.by_subset(name).assign(**key))
    return pd.DataFrame(of_scorer).reindex(columns=SCORER_COLUMNS), pd.concat(of_subset)


def kind_table(
    scores: pd.DataFrame,
    rows: Sequence[dict],
    baselines: Collection[str],
    benchmark: Benchmark,
    interval: Interval,
    half_credit: Collection[str] = (),
) -> pd.DataFrame:
    """Return rows of kinds.csv: each scorer's accuracy on each kind of rejected answer, or on `written`."""
    kinds = {row["id"]: row.get("kind", "written") for row in rows}
    by_kind = Benchmark(benchmark.name, {"": list(dict.fromkeys(kinds.values()))}, {})
    scores = scores.assign(subset=scores["id"].map(kinds))
    comparison = Comparison(scores, by_kind, interval, {*baselines, *half_credit})
    return pd.concat(
        comparison.by_subset(name)
        .rename(columns={"subset": "rejected"})
        .assign(**_key(comparison, name, baselines))
        for name in comparison.scorers
    )[KIND_COLUMNS]


def _key(comparison: Comparison, scorer: str, baselines: Collection[str]) -> dict[str, str]:
    return {
        "benchmark": comparison.benchmark.name,
        "eval_language": comparison.language,
        "scorer": scorer,
        "kind": "baseline" if scorer in baselines else "reward model",
    }


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores, rows = read_scores(files.scores), read_jsonl(files.rows)
    scorers, subsets = scorer_tables(scores, rows, params.baselines, facts, interval, params.half_credit)
    write_table(scorers, snakemake.output.scorers, SCORER_COLUMNS)
    write_table(subsets, snakemake.output.subsets, SUBSET_COLUMNS)
    kinds = kind_table(scores, rows, params.baselines, facts, interval, params.half_credit)
    write_table(kinds, snakemake.output.kinds, KIND_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
