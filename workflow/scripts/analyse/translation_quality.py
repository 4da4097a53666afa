"""Measure each engine's sample against the hand-made translation."""

from itertools import product

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.translation.quality import QUALITY_COLUMNS, quality_row

source = read_jsonl(snakemake.input.source)
references = dict(zip(snakemake.params.languages, map(read_jsonl, snakemake.input.references), strict=True))
keys = product(snakemake.params.engines, snakemake.params.languages)
samples = zip(keys, map(read_jsonl, snakemake.input.samples), strict=True)
rows = [
    quality_row(source, sample, references[lang], engine=engine, language=lang)
    for (engine, lang), sample in samples
]
write_table(pd.concat(rows), snakemake.output[0], QUALITY_COLUMNS)
