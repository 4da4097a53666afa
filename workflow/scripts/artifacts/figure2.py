"""Draw Figure 2."""

import pandas as pd

from polyreward.analysis.embedding_norms import KS_COLUMNS, NORM_COLUMNS
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_table, write_table
from polyreward.ops.jobs import run
from polyreward.transfer.figure2 import draw_figure2


def main(snakemake):
    files, output, params = snakemake.input, snakemake.output, snakemake.params
    norms = pd.concat([read_table(path, NORM_COLUMNS) for path in files.norms])
    ks = pd.concat([read_table(path, KS_COLUMNS) for path in files.ks])
    write_table(norms, output.csv, NORM_COLUMNS)
    write_table(ks, output.ks, KS_COLUMNS)
    save_figure(draw_figure2(norms, ks, params.source, params.groups), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
