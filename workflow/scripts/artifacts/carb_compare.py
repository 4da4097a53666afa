"""Put a table of ours beside CARB's printed numbers."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.analysis.compare import COLUMNS
from polyreward.artifacts.figures import save_figure
from polyreward.carb.compare import compared, drawn
from polyreward.core.tables import write_csv

params, output = snakemake.params, snakemake.output
ours, printed = map(pd.read_csv, (snakemake.input.ours, snakemake.input.printed))
table = compared(snakemake.wildcards.printed, ours, printed, params.base)
write_csv(table[COLUMNS], output.csv, "%.6f")  # without a row where no item brings rewrites
save_figure(drawn(table, params.number), output.png, output.pdf)
