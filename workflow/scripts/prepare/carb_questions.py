"""Read the sets of questions that CARB is checked with."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.points import downstream_questions
from polyreward.core.files import write_jsonl

write_jsonl(downstream_questions(list(snakemake.input), **snakemake.params.choices), snakemake.output[0])
