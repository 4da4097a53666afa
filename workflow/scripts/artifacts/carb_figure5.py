"""Draw Figure 5 of the CARB paper."""

from polyreward.artifacts.figures import save_figure
from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, POINT_COLUMNS
from polyreward.carb.figures.figure5 import draw_rows, plotted
from polyreward.core.tables import as_written, read_exact, read_table, write_table
from polyreward.ops.jobs import run


def main(snakemake):
    params, inputs, output = snakemake.params, snakemake.input, snakemake.output
    points, columns = plotted(read_table(inputs.points, POINT_COLUMNS), params.rating)
    write_table(points, output.csv, columns)
    correlations = as_written(read_exact(inputs.correlations, CORRELATION_COLUMNS))
    save_figure(draw_rows(points, correlations, params.rating, params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
