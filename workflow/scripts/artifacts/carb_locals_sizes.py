"""Put judges of several bases in one table."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import with_reasons
from polyreward.artifacts.renderings import write_artifact
from polyreward.think_as_locals.sizes import COLUMNS, display, read_tables, sizes_table

params = snakemake.params
table = sizes_table(read_tables(params.tables), params.ours)
shown = display(table, params.names, params.confidence)
write_artifact(
    table, COLUMNS, with_reasons(params.caption, table, "judge"), params.artifact, snakemake.output, shown
)
