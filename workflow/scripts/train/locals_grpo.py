"""Train a judge by GRPO with one choice of rewards."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training.launch import train


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    train(
        train_grpo,
        params.launch,
        f"GRPO, {snakemake.wildcards.run}",
        start_folder=files.start,
        questions=read_jsonl(files.questions),
        seed=params.seed,
        **params.training,
        checkpoints=params.checkpoints,
        out_folder=snakemake.output[0],
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
