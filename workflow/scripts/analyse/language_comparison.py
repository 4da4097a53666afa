"""Compare all reward models on one language."""

import dataclasses
from collections.abc import Collection, Mapping

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, mean_of
from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.core.naming import ModelName
from polyreward.core.tables import read_scores, unavailable_reasons, write_table
from polyreward.core.unavailable import sizes_of
from polyreward.ops.jobs import run


def language_table(
    scores: pd.DataFrame,
    missing: Mapping[str, str],
    benchmark: Benchmark,
    interval: Interval,
    half_credit: Collection[str] = (),
) -> pd.DataFrame:
    """Return Tables 3-7's rows of one language, one for each reward model: the mean over its seeds.

    base_model and rm_training are empty for a reward model that was not trained here. missing: {reward model:
    why its row is empty}. half_credit: reward models whose ties are half right."""
    comparison = Comparison(scores, benchmark, interval, half_credit)
    seeds: dict[str, list[str]] = {}
    for model in comparison.scorers:
        first = str(dataclasses.replace(ModelName.parse(model), seed=1)) if "_" in model else model
        seeds.setdefault(first, []).append(model)
    records = []
    for model, of_model in seeds.items():
        trained = ModelName.parse(model) if "_" in model else None
        names = {"base_model": trained.base, "rm_training": trained.language} if trained else {}
        over_seeds = {"n_seeds": len(of_model), "avg_sd": comparison.spread(of_model)}
        contrast = comparison.contrast(mean_of(of_model), [of_model])
        records.append({"reward_model": model, **names, **over_seeds, **contrast})
    records += [{"reward_model": model, "missing": reason} for model, reason in missing.items()]
    table = pd.DataFrame(records).assign(eval_language=comparison.language)
    return sizes_of(table.reindex(columns=LANGUAGE_COLUMNS), ["n_pairs", "n_templates", "n_seeds"])


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    missing = unavailable_reasons(files)
    table = language_table(read_scores(files), missing, facts, interval, params.half_credit)
    write_table(table, snakemake.output[0], LANGUAGE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
