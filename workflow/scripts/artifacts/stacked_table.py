"""Put the rows of one table on top of each other."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.artifacts.renderings import write_artifact

table = pd.concat([pd.read_csv(path, dtype_backend="numpy_nullable") for path in snakemake.input])
write_artifact(
    table, list(table.columns), snakemake.params.caption, snakemake.wildcards.table, snakemake.output
)
