"""Compare on every language the reward models that were not trained here."""

from collections.abc import Collection, Mapping

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark, Comparison
from polyreward.analysis.tables import READY_MADE_COLUMNS
from polyreward.core.kinds import is_baseline
from polyreward.core.tables import read_scores, unavailable_reasons, write_table
from polyreward.core.unavailable import sizes_of
from polyreward.ops.jobs import run


def ready_made_table(
    scores: pd.DataFrame,
    missing: Mapping[str, str],
    kinds: Mapping[str, str],
    benchmark: Benchmark,
    interval: Interval,
    half_credit: Collection[str] = (),
) -> pd.DataFrame:
    """Return Table 2's rows: every reward model that was not trained here, on every language.

    missing: {reward model: why its row is empty}. kinds: {reward model: its kind}, in the order of the rows;
    a baseline's ties are half right, as are half_credit's."""
    half_right = {*half_credit, *(name for name, kind in kinds.items() if is_baseline(kind))}
    comparisons = [
        Comparison(of_language, benchmark, interval, half_right)
        for _, of_language in scores.groupby("language", sort=False)
    ]
    records = [
        {"reward_model": name, "kind": kind, "eval_language": comparison.language}
        | (comparison.contrast({name: 1.0}) if name in comparison.scorers else {"missing": missing[name]})
        for name, kind in kinds.items()
        for comparison in comparisons
    ]
    table = pd.DataFrame(records).reindex(columns=READY_MADE_COLUMNS)
    return sizes_of(table, ["n_pairs", "n_templates"])


def main(snakemake):
    params, files = snakemake.params, snakemake.input
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    missing = unavailable_reasons(files)
    table = ready_made_table(read_scores(files), missing, params.kinds, facts, interval, params.half_credit)
    write_table(table, snakemake.output[0], READY_MADE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
