"""Teach a base the layout, on replies that are written by rule."""

from collections.abc import Sequence

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job
from polyreward.training.policies import train_sft


def at_once(rows: Sequence[dict]) -> list[dict]:
    """Return the warm-up's rows with replies that are only a verdict."""
    return [{**row, "chosen": row["chosen"].rsplit("\n", 1)[-1]} for row in rows]


def main(snakemake):
    params, rows = snakemake.params, read_jsonl(snakemake.input.rows)
    train_job(
        train_sft,
        snakemake,
        "warm-up of judges",
        rows=rows if params.criteria else at_once(rows),
        base_folder=snakemake.input.base,
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
