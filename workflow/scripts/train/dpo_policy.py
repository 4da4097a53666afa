"""Train a policy by DPO on pairs that one reward model labelled."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.training.policies import PolicySettings, train_dpo
from polyreward.core.files import read_jsonl
from polyreward.training.launch import train

params, wildcards = snakemake.params, snakemake.wildcards
pairs, label = read_jsonl(snakemake.input.pairs), f"DPO, {wildcards.labeller} labels, {wildcards.language}"
where = {
    "policy_folder": snakemake.input.policy,
    "checkpoints": params.checkpoints,
    "out_folder": snakemake.output[0],
}
train(
    train_dpo,
    params.launch,
    PolicySettings.from_config(params.settings),
    label,
    pairs=pairs,
    seed=params.seed,
    **where,
)
