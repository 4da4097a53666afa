"""Train a policy by DPO on pairs that one reward model labelled."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train
from polyreward.training.policies import train_dpo


def main(snakemake):
    files, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    train(
        train_dpo,
        params.launch,
        f"DPO, {wildcards.labeller} labels, {wildcards.language}",
        policy_folder=files.policy,
        pairs=read_jsonl(files.pairs),
        seed=params.seed,
        **params.training,
        checkpoints=params.checkpoints,
        out_folder=snakemake.output[0],
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
