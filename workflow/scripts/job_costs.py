"""Sum up what each rule cost, from Snakemake's benchmark files."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.costs import COST_COLUMNS, job_costs
from polyreward.tables import write_table

write_table(job_costs(snakemake.params.folder), snakemake.output.csv, COST_COLUMNS)
