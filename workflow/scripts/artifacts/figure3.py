"""Draw Figure 3."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment import judging
from polyreward.alignment import win_rates
from polyreward.transfer.figure3 import COLUMNS, draw_figure3, figure3_table
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_table, write_table

rates = read_table(snakemake.input.win_rates, win_rates.COLUMNS)
table = figure3_table(rates, read_table(snakemake.input.judgements, judging.COLUMNS))
write_table(table, snakemake.output.csv, COLUMNS)
save_figure(draw_figure3(table, snakemake.params.confidence), snakemake.output.png, snakemake.output.pdf)
