"""Let language models say the right answers in other words."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from functools import partial

from polyreward.carb.items.completions import load_generator
from polyreward.carb.items.paraphrases import paraphrased
from polyreward.core.files import read_jsonl, write_jsonl

files, params = snakemake.input, snakemake.params
load = {
    name: partial(load_generator, entry, params.scoring, params.cache)
    for name, entry in params.generators.items()
}
items = [item for path in files.item_files for item in read_jsonl(path)]
write_jsonl(
    paraphrased(items, read_jsonl(files.references), load, params.languages, params.seed), snakemake.output[0]
)
