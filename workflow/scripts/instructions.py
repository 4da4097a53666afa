"""Take the held-out instructions apart by language."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from polyreward.alignment.instructions import parallel_instructions
from polyreward.core.files import read_items, write_jsonl

where, languages = snakemake.input[0], snakemake.params.languages
instructions = parallel_instructions(read_items(where), languages, where, snakemake.params.roles)
for language, output in zip(languages, snakemake.output, strict=True):
    write_jsonl(instructions[language], output)
