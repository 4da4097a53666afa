"""Draw what happened in GRPO, step by step."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.figures import save_figure
from polyreward.think_as_locals.curves import COLUMNS, curves, draw_curves
from polyreward.core.tables import write_table

names = snakemake.params.names
table = curves({run: f"{folder}/training.json" for run, folder in zip(names, snakemake.input, strict=True)})
write_table(table, snakemake.output.csv, COLUMNS)
save_figure(draw_curves(table, names), snakemake.output.png, snakemake.output.pdf)
