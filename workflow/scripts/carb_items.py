"""Filter the possible items and draw each item's four answers."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from itertools import chain

import pandas as pd
from polyreward.carb.filters import Filters, kept_items
from polyreward.carb.holdout import parted
from polyreward.carb.selection import SELECTION_COLUMNS, checked_items, selection_counts
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.tables import read_scores, write_table

files, params = snakemake.input, snakemake.params
given = [read_jsonl(path) for path in (files.references, files.possible)]
references, items = parted(*given, params.training_share, params.seed, training=False)
kept, counts = kept_items(items, references, read_scores(files.similarities), params.scripts, Filters(**params.filters))
cells = params.cultures, params.domains
by_culture = checked_items(kept, counts, references, *cells, params.seed, params.items_per_cell)
drawn = selection_counts(counts, chain(*by_culture.values()))
write_table(pd.DataFrame(drawn), snakemake.output.counts, SELECTION_COLUMNS)
for culture, of_culture in by_culture.items():
    write_jsonl(of_culture, snakemake.output[culture])
