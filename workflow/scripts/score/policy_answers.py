"""Let every policy of a language answer the held-out instructions, in several runs."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.sampling import answers_of_runs
from polyreward.core.files import read_jsonl, write_jsonl

params, policies = snakemake.params, dict(zip(snakemake.params.names, snakemake.input.policies, strict=True))
instructions, language = read_jsonl(snakemake.input.instructions), snakemake.wildcards.language
how = {"runs": params.runs, "seed": params.seed, "language": language, **params.sampling}
write_jsonl(answers_of_runs(policies, instructions, **how), snakemake.output[0])
