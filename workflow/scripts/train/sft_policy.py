"""Teach a base to answer, on chosen answers of every language."""

from collections.abc import Sequence

from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.training.launch import train_job
from polyreward.training.policies import train_sft


def evenly_spread(rows: Sequence[dict], count: int) -> list[dict]:
    """Return `count` rows at even distances, or all where there are no more."""
    count = min(count, len(rows))
    return [rows[number * len(rows) // count] for number in range(count)]


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    count = params.training["settings"].rows
    train_job(
        train_sft,
        snakemake,
        "SFT policy",
        base_folder=files.base,
        rows=[row for path in files.rows for row in evenly_spread(read_jsonl(path), count)],
    )


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
