"""Make the items for training judges, on topics that no item of the benchmark has."""

from polyreward.carb.items.filters import kept_items
from polyreward.carb.items.selection import TRAINING_SHARE, finished_items, item_problems, split_topics
from polyreward.core.errors import raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import read_sealed
from polyreward.ops.jobs import run


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    given = [read_jsonl(path) for path in (files.references, files.possible)]
    references, items = split_topics(*given, TRAINING_SHARE, params.seed, training=True)
    kept, _ = kept_items(items, references, read_sealed(files.similarities), params.scripts)
    finished = finished_items(kept, params.seed)
    raise_all(item_problems(finished, references), "carb, items to train on")
    for culture, output in snakemake.output.items():
        write_jsonl([item for item in finished if item["culture"] == culture], output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
