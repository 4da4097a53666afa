"""Read the questions that CARB is checked with, and add their accepted answers."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from pathlib import Path

import yaml
from polyreward.carb.questions import accepted_questions
from polyreward.core.files import write_jsonl

where = snakemake.input[0]
data = yaml.safe_load(Path(where).read_text(encoding="utf-8"))
write_jsonl(accepted_questions(data, snakemake.params.cultures, where), snakemake.output[0])
