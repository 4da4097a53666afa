"""Draw Figure 4 or 5 of the CARB paper."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.carb.correlation import CORRELATION_COLUMNS, POINT_COLUMNS
from polyreward.carb.figure4 import draw_validity, plotted
from polyreward.figures import save_figure
from polyreward.tables import read_table, write_table

params, inputs, output = snakemake.params, snakemake.input, snakemake.output
points, columns = plotted(read_table(inputs.points, POINT_COLUMNS), params.policies, params.rating)
write_table(points, output.csv, columns)
correlations = read_table(inputs.correlations, CORRELATION_COLUMNS).query("rating == @params.rating")
save_figure(draw_validity(points, correlations, params.rating, params.confidence), output.png, output.pdf)
