"""Train a judge by GRPO with one choice of rewards."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training.launch import train_job


def main(snakemake):
    files = snakemake.input
    train_job(
        train_grpo,
        snakemake,
        f"GRPO, {snakemake.wildcards.run}",
        start_folder=files.start,
        questions=read_jsonl(files.questions),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
