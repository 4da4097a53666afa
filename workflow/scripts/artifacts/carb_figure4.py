"""Draw Figure 4 of the CARB paper."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS
from polyreward.carb.figures.figure4 import PLOTTED, draw_correlations, plotted
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import read_exact, write_table

params, output = snakemake.params, snakemake.output
table = plotted(read_exact(snakemake.input[0], CORRELATION_COLUMNS), params.rating)
write_table(table, output.csv, PLOTTED)
save_figure(draw_correlations(table, params.confidence), output.png, output.pdf)
