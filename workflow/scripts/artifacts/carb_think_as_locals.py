"""Lay out a comparison of judges."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import with_reasons
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_exact
from polyreward.think_as_locals.comparison import COLUMNS, display

params, table = snakemake.params, read_exact(snakemake.input[0], COLUMNS)
shown = display(table, params.names, params.confidence)
write_artifact(
    table, COLUMNS, with_reasons(params.caption, table, "judge"), params.artifact, snakemake.output, shown
)
