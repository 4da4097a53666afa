"""Write Table 2, tidy and as the paper prints it."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.tables import READY_MADE_COLUMNS
from polyreward.transfer.tables import display_ready_made
from polyreward.core.unavailable import with_reasons
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_table

table, params = read_table(snakemake.input[0], READY_MADE_COLUMNS), snakemake.params
shown = display_ready_made(table, params.confidence)
write_artifact(
    table,
    READY_MADE_COLUMNS,
    with_reasons(params.caption, table, "reward_model"),
    "table2",
    snakemake.output,
    shown,
)
