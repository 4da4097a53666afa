"""Compare English and target reward models on every target language."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import TRANSFER_COLUMNS, hard_pairs, transfer_table
from polyreward.core.files import read_jsonl
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores, sheet = read_scores(snakemake.input.scores), read_sheet(snakemake.input.sheet)
    hard = hard_pairs(read_jsonl(snakemake.input.rows))
    table = transfer_table(scores, sheet, params.source, facts, interval, hard)
    write_table(table, snakemake.output[0], TRANSFER_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
