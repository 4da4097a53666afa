"""Rewrite the items' right answers, and put them in all languages."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.perturbation.perturbations import COUNT_COLUMNS, all_sets, by_set_and_culture
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import write_table

files, params, output = snakemake.input, snakemake.params, snakemake.output
items = [item for path in files.item_files for item in read_jsonl(path)]
sets, counts = all_sets(items, dict(files.items()), params.cultures, params.sizes, params.seed)
write_table(pd.DataFrame(counts), output.counts, COUNT_COLUMNS)
for rows, path in zip(by_set_and_culture(sets, params.cultures), output.rows, strict=True):
    write_jsonl(rows, path)
