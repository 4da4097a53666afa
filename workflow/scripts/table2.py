"""Write Table 2, tidy and as the paper prints it."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.reports import SHELF_COLUMNS
from polyreward.table1 import display_off_the_shelf
from polyreward.renderings import write_artifact
from polyreward.tables import read_table

table, params = read_table(snakemake.input[0], SHELF_COLUMNS), snakemake.params
shown = display_off_the_shelf(table, params.confidence)
write_artifact(table, SHELF_COLUMNS, params.caption, "table2", snakemake.output, shown)
