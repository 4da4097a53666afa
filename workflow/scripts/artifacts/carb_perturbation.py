"""Say how far each rewrite moves each reward model's scores."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.renderings import write_artifact
from polyreward.carb.perturbation.sensitivity import PERTURBATION_COLUMNS, display_perturbations
from polyreward.core.tables import read_exact

params, table = snakemake.params, read_exact(snakemake.input[0], PERTURBATION_COLUMNS)
shown = display_perturbations(table, params.confidence)
write_artifact(table, PERTURBATION_COLUMNS, params.caption, "carb_perturbation", snakemake.output, shown)
