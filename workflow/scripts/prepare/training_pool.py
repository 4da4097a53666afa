"""Filter the preference pool and split it into train and dev."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.prepare.pool import COUNT_COLUMNS, Share, prepared_pool
from polyreward.core.tables import read_table, write_table

pool = [row for path in snakemake.input.pool for row in read_jsonl(path)]
evaluation = [row for path in snakemake.input.evaluation for row in read_jsonl(path)]
params = snakemake.params
limits = (params.dev_share, params.max_pairs, Share(**params.share))
train, dev, counts = prepared_pool(pool, evaluation, params.categories, *limits, params.seed, params.filters)
write_jsonl(train, snakemake.output.train)
write_jsonl(dev, snakemake.output.dev)
printed = read_table(snakemake.input.printed, ["source", "pairs"]).set_index("source")["pairs"]
counts["printed"] = counts["source"].map(printed).astype("Int64")
write_table(counts, snakemake.output.counts, COUNT_COLUMNS)
