"""Draw in which languages a reward model has facts that it was taught in one."""

from polyreward.artifacts.figures import save_figure
from polyreward.carb.culture.taught import COST_COLUMNS, TAUGHT_COLUMNS
from polyreward.carb.figures.taught import draw_taught
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    files, output = snakemake.input, snakemake.output
    table = read_exact(files.table, TAUGHT_COLUMNS)
    write_table(table, output.csv, TAUGHT_COLUMNS)
    write_table(read_exact(files.cost, COST_COLUMNS), output.cost, COST_COLUMNS)
    save_figure(draw_taught(table, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
