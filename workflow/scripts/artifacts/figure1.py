"""Draw Figure 1."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.transfer.figure1 import COLUMNS, draw_figure1
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_table, write_table

table = pd.concat([read_table(path, COLUMNS) for path in snakemake.input])
write_table(table, snakemake.output.csv, COLUMNS)
save_figure(draw_figure1(table, snakemake.params.confidence), snakemake.output.png, snakemake.output.pdf)
