"""Count how much of the translated rows is still in the source language."""

from itertools import product

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.translation.untranslated import UNTRANSLATED_COLUMNS, untranslated_rows

params, sources = (
    snakemake.params,
    dict(zip(snakemake.params.rowsets, map(read_jsonl, snakemake.input.source), strict=True)),
)
keys = product(params.rowsets, params.languages)
made = zip(keys, map(read_jsonl, snakemake.input.translated), strict=True)
tables = [
    untranslated_rows(sources[rowset], rows, rows=rowset, language=language)
    for (rowset, language), rows in made
]
write_table(pd.concat(tables), snakemake.output[0], UNTRANSLATED_COLUMNS)
