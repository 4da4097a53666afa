"""Regress what the picks are worth on the reward models' scores on each benchmark."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.downstream.correlation import CORRELATION_COLUMNS, POINT_COLUMNS, correlation_table
from polyreward.core.tables import read_table, write_exact

points = read_table(snakemake.input[0], POINT_COLUMNS).query("kind != 'bound'")
write_exact(
    correlation_table(points, Interval(**snakemake.params.interval)), snakemake.output[0], CORRELATION_COLUMNS
)
