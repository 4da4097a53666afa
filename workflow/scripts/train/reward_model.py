"""Train one reward model."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train
from polyreward.training.reward_model import train_reward_model


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    train(
        train_reward_model,
        params.launch,
        snakemake.wildcards.model,
        base_folder=files.base,
        rows=read_jsonl(files.rows),
        seed=params.seed,
        **params.training,
        checkpoints=params.checkpoints,
        out_folder=snakemake.output[0],
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
