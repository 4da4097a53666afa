"""Put a table of ours beside the transfer paper's printed one."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.analysis.compare import COLUMNS
from polyreward.artifacts.figures import save_figure
from polyreward.core.tables import write_table
from polyreward.transfer.compare import compared, drawn

params, output = snakemake.params, snakemake.output
ours, printed = map(pd.read_csv, (snakemake.input.ours, snakemake.input.printed))
table = compared(snakemake.wildcards.printed, ours, printed, params.language)
write_table(table, output.csv, COLUMNS)
save_figure(drawn(table, params.number), output.png, output.pdf)
