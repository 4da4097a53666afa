"""Compare on every language the reward models that were not trained here."""

from collections.abc import Mapping, Sequence

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import READY_MADE_COLUMNS
from polyreward.core.sheet import half_right, read_sheet
from polyreward.core.tables import read_scores, scorers_of, unavailable_reasons, write_table
from polyreward.core.unavailable import sizes_of
from polyreward.ops.jobs import run


def ready_made_table(
    scores: pd.DataFrame,
    missing: Mapping[str, str],
    names: Sequence[str],
    sheet: pd.DataFrame,
    benchmark: Benchmark,
    interval: Interval,
) -> pd.DataFrame:
    """Return Table 2's rows: every reward model that was not trained here, on every language.

    missing: {reward model: why its row is empty}. names: those of the rows, in their order. sheet: what
    these are."""
    comparisons = [
        Comparison(of_language, benchmark, interval, half_right(sheet))
        for _, of_language in scores.groupby("language", sort=False)
    ]
    records = [
        {"reward_model": name, "kind": sheet.at[name, "kind"], "eval_language": comparison.language}
        | (comparison.contrast({name: 1.0}) if name in comparison.scorers else {"missing": missing[name]})
        for name in names
        for comparison in comparisons
    ]
    table = pd.DataFrame(records).reindex(columns=READY_MADE_COLUMNS)
    return sizes_of(table, ["n_pairs", "n_templates"])


def main(snakemake):
    params, files = snakemake.params, snakemake.input.scores
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    missing = unavailable_reasons(files)
    names = scorers_of(files)
    sheet = read_sheet(snakemake.input.sheet)
    table = ready_made_table(read_scores(files), missing, names, sheet, facts, interval)
    write_table(table, snakemake.output[0], READY_MADE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
