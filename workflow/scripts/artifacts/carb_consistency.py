"""Draw each reward model's consistency over pairs of languages."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.figures import save_figure
from polyreward.carb.perturbation.consistency import PAIR_COLUMNS
from polyreward.carb.figures.consistency_figure import draw_consistency
from polyreward.core.tables import read_exact, write_table

table, output = read_exact(snakemake.input[0], PAIR_COLUMNS), snakemake.output
write_table(table, output.csv, PAIR_COLUMNS)
save_figure(draw_consistency(table), output.png, output.pdf)
