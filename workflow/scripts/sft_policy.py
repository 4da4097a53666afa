"""Teach a base to answer, on chosen answers of every language."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.alignment.policies import PolicySettings, train_sft
from polyreward.files import read_jsonl

rows, settings = snakemake.params.settings["rows"], PolicySettings.from_config(snakemake.params.settings)
examples = [row for path in snakemake.input.rows for row in spread(read_jsonl(path), rows)]
train_sft(snakemake.input.base, examples, settings, snakemake.params.seed, snakemake.output[0], "sft policy")
