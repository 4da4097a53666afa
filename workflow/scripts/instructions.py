"""Take the held-out instructions apart by language."""

from polyreward.jobs import start_job

start_job(snakemake)

from pathlib import Path

import yaml
from polyreward.alignment.instructions import parallel_instructions
from polyreward.files import write_jsonl

where, languages = snakemake.input[0], snakemake.params.languages
instructions = parallel_instructions(yaml.safe_load(Path(where).read_text(encoding="utf-8")), languages, where)
for language, output in zip(languages, snakemake.output, strict=True):
    write_jsonl(instructions[language], output)
