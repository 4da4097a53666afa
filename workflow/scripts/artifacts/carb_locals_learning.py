"""Lay out what judges learn."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.artifacts.renderings import write_artifact
from polyreward.core.tables import read_exact
from polyreward.think_as_locals.learning import COLUMNS, HELD_OUT_COLUMNS, display, learning_table

params = snakemake.params
tables = {
    name: read_exact(path, HELD_OUT_COLUMNS)
    for name, path in zip(params.learners, snakemake.input, strict=True)
}
table = learning_table(tables, params.seeds, params.contrasts, Interval(**params.interval))
shown = display(table, params.names, params.confidence)
write_artifact(table, COLUMNS, params.caption, params.artifact, snakemake.output, shown)
