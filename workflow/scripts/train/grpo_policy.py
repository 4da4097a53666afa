"""Train a policy by GRPO with one reward model's score as its reward."""

from polyreward.carb.downstream.grpo import policy_prompts, train_policy
from polyreward.core.files import read_jsonl
from polyreward.core.unavailable import policy_or_reason
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job


def main(snakemake):
    files, params, scorer = snakemake.input, snakemake.params, snakemake.wildcards.scorer
    items = read_jsonl(files.item_files)
    with policy_or_reason(snakemake.output[0], scorer, params.may_be_missing):
        train_job(
            train_policy,
            snakemake,
            f"GRPO, reward {scorer}",
            start_folder=files.policy,
            prompts=policy_prompts(items, params.training["settings"].prompts, params.seed),
            **params.reward,
        )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
