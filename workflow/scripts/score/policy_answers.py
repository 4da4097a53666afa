"""Let every policy of a language answer the held-out instructions, in several runs."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.sampling import SamplingSettings, answers_of_runs
from polyreward.core.files import read_jsonl, write_jsonl

params, policies = snakemake.params, dict(zip(snakemake.params.names, snakemake.input.policies, strict=True))
instructions, settings = read_jsonl(snakemake.input.instructions), SamplingSettings(**params.sampling)
how = (settings, params.runs, params.seed, snakemake.wildcards.language, params.serve)
write_jsonl(answers_of_runs(policies, instructions, *how), snakemake.output[0])
