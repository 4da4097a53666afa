"""Say how consistent each reward model is over languages."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.perturbation.consistency import CONSISTENCY_COLUMNS, display_consistency
from polyreward.core.tables import read_exact

params, table = snakemake.params, read_exact(snakemake.input[0], CONSISTENCY_COLUMNS)
shown = display_consistency(table, params.confidence)
write_artifact(table, CONSISTENCY_COLUMNS, params.caption, "carb_consistency_table", snakemake.output, shown)
