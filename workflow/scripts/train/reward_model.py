"""Train one reward model."""

from collections.abc import Sequence

from polyreward.core.draws import in_draw_order
from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job
from polyreward.training.reward_model import train_reward_model


def with_flipped_labels(rows: Sequence[dict], share: float, seed: int) -> list[dict]:
    """Return the rows in order, with chosen and rejected exchanged in a share of them, drawn by hash.

    A larger share flips the same rows and more."""
    ordered = in_draw_order(rows, seed, "flipped labels")
    flipped = {row["id"] for row in ordered[: round(share * len(rows))]}
    return [
        {**row, "chosen": row["rejected"], "rejected": row["chosen"]} if row["id"] in flipped else row
        for row in rows
    ]


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    train_job(
        train_reward_model,
        snakemake,
        snakemake.wildcards.model,
        start_folder=files.start,
        rows=with_flipped_labels(read_jsonl(files.rows), **params.flipped),
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
