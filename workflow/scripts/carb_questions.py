"""Read the questions that CARB is checked with, and add their accepted answers."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from polyreward.carb.questions import accepted_questions
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_yaml

where = snakemake.input[0]
data = read_yaml(where)
write_jsonl(accepted_questions(data, snakemake.params.cultures, where), snakemake.output[0])
