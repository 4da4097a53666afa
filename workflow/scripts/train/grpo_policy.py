"""Train a policy by GRPO with one reward model's score as its reward."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.grpo import GrpoTraining, policy_prompts, train_policy
from polyreward.core.unavailable import policy_or_reason
from polyreward.core.files import read_jsonl
from polyreward.training.launch import train

files, params, label = snakemake.input, snakemake.params, f"GRPO, reward {snakemake.wildcards.rewarding}"
prompts = policy_prompts(
    (item for path in files.item_files for item in read_jsonl(path)), params.prompts, params.seed
)
where = {"start_folder": files.policy, "checkpoints": params.checkpoints, "out_folder": snakemake.output[0]}
settings, reward = GrpoTraining.from_config(params.settings), params.reward
with policy_or_reason(snakemake):
    train(train_policy, params.launch, settings, label, prompts=prompts, seed=params.seed, **reward, **where)
