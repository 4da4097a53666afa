"""Write one of Tables 3-7, tidy and as the paper prints it."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.reports import LANGUAGE_COLUMNS
from polyreward.table1 import display_language_table
from polyreward.renderings import write_artifact
from polyreward.tables import read_table

params, name = snakemake.params, snakemake.wildcards.language_table
table = read_table(snakemake.input[0], LANGUAGE_COLUMNS)
shown = display_language_table(table, params.confidence)
write_artifact(table, LANGUAGE_COLUMNS, params.caption, name, snakemake.output, shown)
