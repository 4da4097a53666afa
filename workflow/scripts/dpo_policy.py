"""Train a policy by DPO on pairs that one reward model labelled."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.alignment.policies import PolicySettings, train_dpo
from polyreward.files import read_jsonl

settings, wildcards = PolicySettings.from_config(snakemake.params.settings), snakemake.wildcards
pairs, label = read_jsonl(snakemake.input.pairs), f"DPO, {wildcards.labeller} labels, {wildcards.language}"
train_dpo(snakemake.input.policy, pairs, settings, snakemake.params.seed, snakemake.output[0], label)
