"""Check one evaluation set and add its categories."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.prepare.pool import COUNT_COLUMNS, Share, prepared_benchmark
from polyreward.core.tables import write_table

where, params = snakemake.input[0], snakemake.params
share = Share(**params.share)
rows, counts = prepared_benchmark(
    read_jsonl(where), params.categories, share, params.seed, where, params.published
)
write_jsonl(rows, snakemake.output.rows)
write_table(counts, snakemake.output.counts, COUNT_COLUMNS)
