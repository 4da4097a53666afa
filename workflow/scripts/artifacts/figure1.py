"""Draw Figure 1."""

import pandas as pd

from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run
from polyreward.transfer.figure1 import COLUMNS, draw_figure1


def main(snakemake):
    output = snakemake.output
    table = pd.concat([read_table(path, COLUMNS) for path in snakemake.input])
    write_table(table, output.csv, COLUMNS)
    save_figure(draw_figure1(table, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
