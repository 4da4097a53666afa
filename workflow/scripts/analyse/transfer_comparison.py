"""Compare English and target reward models on every target language."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import TRANSFER_COLUMNS, transfer_table
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    table = transfer_table(
        read_scores(snakemake.input.scores), read_sheet(snakemake.input.sheet), params.source, facts, interval
    )
    write_table(table, snakemake.output[0], TRANSFER_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
