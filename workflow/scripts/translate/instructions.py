"""Take the held-out instructions apart by language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.instructions import parallel_instructions
from polyreward.core.draws import drawn
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_items

where, params = snakemake.input[0], snakemake.params
instructions = parallel_instructions(read_items(where), params.languages, where, params.roles)
for language, output in zip(params.languages, snakemake.output, strict=True):
    write_jsonl(
        drawn(instructions[language], [], params.max_instructions, params.seed, "instructions"), output
    )
