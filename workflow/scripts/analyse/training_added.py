"""Compare reward models with a linear probe of their untrained base, and with its PMI."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import ADDED_COLUMNS, training_added
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores = read_scores(snakemake.input.scores)
    table = training_added(
        scores, read_sheet(snakemake.input.sheet), params.bases, params.languages, facts, interval
    )
    write_table(table, snakemake.output[0], ADDED_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
