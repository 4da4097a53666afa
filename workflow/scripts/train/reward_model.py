"""Train one reward model."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job
from polyreward.training.reward_model import train_reward_model


def main(snakemake):
    files = snakemake.input
    train_job(
        train_reward_model,
        snakemake,
        snakemake.wildcards.model,
        base_folder=files.base,
        rows=read_jsonl(files.rows),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
