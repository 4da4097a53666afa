"""Lay out the regressions of the picks' worth on the reward models' scores."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, display_correlations
from polyreward.core.tables import read_exact

params, table = snakemake.params, read_exact(snakemake.input[0], CORRELATION_COLUMNS)
write_artifact(
    table,
    CORRELATION_COLUMNS,
    params.caption,
    "carb_correlation",
    snakemake.output,
    display_correlations(table),
)
