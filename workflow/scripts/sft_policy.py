"""Teach a base to answer, on chosen answers of every language."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.alignment.policies import PolicySettings, spread, train_sft
from polyreward.files import read_jsonl

params, settings = snakemake.params, PolicySettings.from_config(snakemake.params.settings)
examples = [row for path in snakemake.input.rows for row in spread(read_jsonl(path), params.rows)]
train_sft(snakemake.input.base, examples, settings, params.seed, snakemake.output[0], "SFT policy")
