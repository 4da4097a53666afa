"""Compute the hidden states after a base's frozen layers for all of CARB's items."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.scores import save_item_states
from polyreward.core.files import read_jsonl

items = [item for path in snakemake.input.item_files for item in read_jsonl(path)]
save_item_states(snakemake.input.base, items, *snakemake.params.limits, snakemake.output[0])
