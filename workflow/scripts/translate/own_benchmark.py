"""Check a benchmark of the user's own."""

from polyreward.core.files import write_jsonl
from polyreward.ops.jobs import run
from polyreward.prepare.pair_files import read_pairs


def main(snakemake):
    write_jsonl(read_pairs(snakemake.input[0], layout=snakemake.params.layout), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
