"""Check one evaluation set and add its categories."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl, write_jsonl
from polyreward.prepare import COUNT_COLUMNS, prepared_benchmark
from polyreward.tables import write_table

rows, counts = prepared_benchmark(read_jsonl(snakemake.input[0]), snakemake.params.categories, snakemake.input[0])
write_jsonl(rows, snakemake.output.rows)
write_table(counts, snakemake.output.counts, COUNT_COLUMNS)
