"""Teach a base the layout, on replies that are written by rule."""

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.think_as_locals.criteria import at_once
from polyreward.training.launch import train
from polyreward.training.policies import PolicySettings, train_sft


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    rows = read_jsonl(files.rows)
    train(
        train_sft,
        params.launch,
        PolicySettings.from_config(params.settings),
        "warm-up of judges",
        base_folder=files.base,
        rows=rows if params.criteria else at_once(rows),
        seed=params.seed,
        checkpoints=params.checkpoints,
        out_folder=snakemake.output[0],
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
