"""Draw how well scorers know places, by place quartets."""

from polyreward.artifacts.figures import save_figure
from polyreward.carb.culture.comparison import CULTURE_COLUMNS
from polyreward.carb.figures.culture import draw_culture
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    output = snakemake.output
    table = read_exact(snakemake.input[0], CULTURE_COLUMNS)
    write_table(table, output.csv, CULTURE_COLUMNS)
    save_figure(draw_culture(table, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
