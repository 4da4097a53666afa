"""Put the benchmark's items together: built from references, or the user's own."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.benchmark import benchmark_items
from polyreward.carb.items.selection import SELECTION_COLUMNS
from polyreward.core.files import write_jsonl
from polyreward.core.tables import write_table

by_culture, counts = benchmark_items(dict(snakemake.input.items()), **snakemake.params.choices)
write_table(counts, snakemake.output.counts, SELECTION_COLUMNS)
for culture, of_culture in by_culture.items():
    write_jsonl(of_culture, snakemake.output[culture])
