"""Let language models write the answers from the references."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from functools import partial

from polyreward.carb.items.completions import completed, load_generator
from polyreward.core.files import read_jsonl, write_jsonl

params = snakemake.params
load = {
    name: partial(load_generator, entry, params.scoring, params.cache)
    for name, entry in params.generators.items()
}
write_jsonl(
    completed(read_jsonl(snakemake.input.possible), load, params.languages, params.seed), snakemake.output[0]
)
