"""Write Table 1, tidy and as the paper prints it."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.tables import TRANSFER_COLUMNS
from polyreward.transfer.tables import display_table1
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_table

table = read_table(snakemake.input[0], TRANSFER_COLUMNS)
shown = display_table1(table, snakemake.params.confidence)
write_artifact(table, TRANSFER_COLUMNS, snakemake.params.caption, "table1", snakemake.output, shown)
