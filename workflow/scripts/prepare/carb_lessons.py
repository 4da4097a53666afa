"""Make lessons of place quartets, in one language."""

from polyreward.carb.culture.lessons import lesson_pairs
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run


def main(snakemake):
    rows = read_jsonl(snakemake.input[0])
    write_jsonl(list(lesson_pairs(rows, snakemake.params.seed)), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
