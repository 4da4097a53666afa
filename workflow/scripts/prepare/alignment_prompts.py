"""Draw the prompts that the policy answers."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.prompts import drawn_prompts
from polyreward.core.files import read_jsonl, write_jsonl

rows, params = read_jsonl(snakemake.input.rows[0]), snakemake.params
write_jsonl(drawn_prompts(rows, params.prompts, params.seed, snakemake.input.rows[0]), snakemake.output[0])
