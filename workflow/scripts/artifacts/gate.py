"""Test whether the source-language reward models beat length."""

from collections.abc import Sequence

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, mean_of
from polyreward.analysis.tables import ESTIMATE
from polyreward.analysis.verdicts import UNDECIDED, WIDTH
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.sheet import baselines, read_sheet
from polyreward.core.tables import read_scores, scorers_of
from polyreward.ops.jobs import run

GATE_COLUMNS = ["eval_language", "models", "baseline", *ESTIMATE, "verdict"]


def gate_table(
    scores: pd.DataFrame,
    models: Sequence[str],
    baselines: Sequence[str],
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return the models' mean minus each baseline's; the row of `length` is the gate.

    The models are one model's trainings, with the variance between them in the interval. A standard error of
    zero decides nothing."""
    comparison = Comparison(scores, benchmark, interval, baselines)
    key, records = {"eval_language": comparison.language, "models": " ".join(models)}, []
    for baseline in baselines:
        row = comparison.contrast({**mean_of(models), baseline: -1.0}, [models])
        verdict = "above" if row["avg_low"] > 0 else "below" if row["avg_high"] < 0 else UNDECIDED
        verdict = verdict if row["avg_se"] > WIDTH else UNDECIDED
        records.append({**key, "baseline": baseline, **row, "verdict": verdict})
    return pd.DataFrame(records).reindex(columns=GATE_COLUMNS)


def main(snakemake):
    params, files, sheet = snakemake.params, snakemake.input.scores, read_sheet(snakemake.input.sheet)
    scorers, is_baseline = scorers_of(files), baselines(sheet)
    models = [name for name in scorers if name not in is_baseline]
    texts = [name for name in scorers if name in is_baseline]
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    table = gate_table(read_scores(files), models, texts, facts, interval)
    write_artifact(table, GATE_COLUMNS, params.caption, "gate", snakemake.output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
