"""Draw Figure 1 of the CARB paper."""

from polyreward.artifacts.figures import save_figure
from polyreward.artifacts.fonts import fonts_for
from polyreward.carb.figures.figure1 import COLUMNS, draw_figure1, own_names, texts_by_culture
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    output = snakemake.output
    table, names = read_exact(snakemake.input[0], COLUMNS), own_names(snakemake.params.cultures)
    write_table(table, output.csv, COLUMNS)
    with fonts_for(texts_by_culture(table, names)) as families:
        save_figure(draw_figure1(table, names, families), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
