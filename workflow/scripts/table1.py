"""Write Table 1, tidy and as the paper prints it."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.table1 import TABLE1_COLUMNS, display_table1
from polyreward.tables import write_artifact

table = pd.read_csv(snakemake.input[0])[TABLE1_COLUMNS]
write_artifact(table, TABLE1_COLUMNS, snakemake.params.caption, "table1", snakemake.output, display_table1(table))
