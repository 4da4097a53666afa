"""Compare reward models that had lessons on place quartets with the same without."""

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.carb.culture.taught import COST_COLUMNS, TAUGHT_COLUMNS, cost_table, taught_table
from polyreward.core.sheet import read_sheet
from polyreward.core.tables import read_scores, write_exact
from polyreward.ops.jobs import run


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    sheet, interval = read_sheet(files.sheet), Interval(**params.interval)
    write_exact(taught_table(files.item_files, files.quartets, sheet, interval), output.table, TAUGHT_COLUMNS)
    cost = cost_table(read_scores(files.main), sheet, Benchmark(**params.benchmark), interval)
    write_exact(cost, output.cost, COST_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
