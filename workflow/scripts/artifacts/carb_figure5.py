"""Draw Figure 5 of the CARB paper."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, POINT_COLUMNS
from polyreward.carb.figures.figure5 import draw_rows, plotted
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import as_written, read_exact, read_table, write_table

params, inputs, output = snakemake.params, snakemake.input, snakemake.output
points, columns = plotted(read_table(inputs.points, POINT_COLUMNS), params.rating)
write_table(points, output.csv, columns)
correlations = as_written(read_exact(inputs.correlations, CORRELATION_COLUMNS))
save_figure(draw_rows(points, correlations, params.rating, params.confidence), output.png, output.pdf)
