"""Write Table 2, tidy and as the paper prints it."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from polyreward.analysis.tables import SHELF_COLUMNS
from polyreward.transfer.tables import display_off_the_shelf
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_table

table, params = read_table(snakemake.input[0], SHELF_COLUMNS), snakemake.params
shown = display_off_the_shelf(table, params.confidence)
write_artifact(table, SHELF_COLUMNS, params.caption, "table2", snakemake.output, shown)
