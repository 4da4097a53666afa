"""Compare all reward models on one language."""

from collections.abc import Mapping

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison, mean_of
from polyreward.analysis.tables import LANGUAGE_COLUMNS
from polyreward.core.naming import ModelName
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_scores, unavailable_reasons, write_table
from polyreward.core.unavailable import sizes_of
from polyreward.ops.jobs import run


def language_table(
    scores: pd.DataFrame,
    missing: Mapping[str, str],
    sheet: pd.DataFrame,
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return Tables 3-7's rows of one language, one for each reward model: the mean over its seeds.

    base_model and rm_training are empty for a reward model that was not trained here. missing: {reward model:
    why its row is empty}. sheet: what the reward models are."""
    comparison = Comparison(scores, benchmark, interval, half_right(sheet))
    seeds: dict[str, list[str]] = {}
    for model in comparison.scorers:
        base, trained_in = sheet.loc[model, ["base", "trained_in"]]
        first = str(ModelName(base, trained_in)) if trained_in else model
        seeds.setdefault(first, []).append(model)
    records = []
    for model, of_model in seeds.items():
        base, trained_in = sheet.loc[of_model[0], ["base", "trained_in"]]
        names = {"base_model": base, "rm_training": trained_in} if trained_in else {}
        over_seeds = {"n_seeds": len(of_model), "avg_sd": comparison.spread(of_model)}
        contrast = comparison.contrast(mean_of(of_model), [of_model])
        records.append({"reward_model": model, **names, **over_seeds, **contrast})
    records += [{"reward_model": model, "missing": reason} for model, reason in missing.items()]
    table = pd.DataFrame(records).assign(eval_language=comparison.language)
    return sizes_of(table.reindex(columns=LANGUAGE_COLUMNS), ["n_pairs", "n_templates", "n_seeds"])


def main(snakemake):
    params, files = snakemake.params, snakemake.input.scores
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    missing = unavailable_reasons(files)
    table = language_table(read_scores(files), missing, read_sheet(snakemake.input.sheet), facts, interval)
    write_table(table, snakemake.output[0], LANGUAGE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
