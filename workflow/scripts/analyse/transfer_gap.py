"""Compare what the source language's reward models get in their own language and in others."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import GAP_COLUMNS, transfer_gaps
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores = read_scores(snakemake.input.scores)
    table = transfer_gaps(
        scores, read_sheet(snakemake.input.sheet), params.bases, params.languages, facts, interval
    )
    write_table(table, snakemake.output[0], GAP_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
