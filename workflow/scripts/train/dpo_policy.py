"""Train a policy by DPO on pairs that one reward model labelled."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job
from polyreward.training.policies import train_dpo


def main(snakemake):
    files, wildcards = snakemake.input, snakemake.wildcards
    train_job(
        train_dpo,
        snakemake,
        f"DPO, {wildcards.labeller} labels, {wildcards.language}",
        policy_folder=files.policy,
        pairs=read_jsonl(files.pairs),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
