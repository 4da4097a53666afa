"""Compare trainings of the same reward model with each other."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.tables import DIFFERENCE_COLUMNS, seed_differences
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params = snakemake.params
    facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
    scores, sheet = read_scores(snakemake.input.scores), read_sheet(snakemake.input.sheet)
    write_table(seed_differences(scores, sheet, facts, interval), snakemake.output[0], DIFFERENCE_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
