"""Regress what the picks are worth on the reward models' scores on each benchmark."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.carb.correlation import CORRELATION_COLUMNS, POINT_COLUMNS, correlation_table, display_correlations
from polyreward.renderings import write_artifact
from polyreward.tables import read_table

params = snakemake.params
points = read_table(snakemake.input[0], POINT_COLUMNS).query("kind != 'bound'")
table = correlation_table(points, params.confidence)
write_artifact(table, CORRELATION_COLUMNS, params.caption, "carb_correlation", snakemake.output, display_correlations(table))
