"""Draw how far each rewrite moves each reward model's scores."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.figures.perturbation_figure import PLOTTED, draw_perturbations
from polyreward.carb.perturbation.sensitivity import PERTURBATION_COLUMNS
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import as_written, read_exact, write_table

table, output = as_written(read_exact(snakemake.input[0], PERTURBATION_COLUMNS)[PLOTTED]), snakemake.output
write_table(table, output.csv, PLOTTED)
save_figure(draw_perturbations(table, snakemake.params.confidence), output.png, output.pdf)
