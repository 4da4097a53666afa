"""Compare English and target reward models on every target language."""

from itertools import product

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.analysis.tables import TRANSFER_COLUMNS, transfer_table
from polyreward.core.tables import read_scores, write_table

params, inputs = snakemake.params, snakemake.input
keys = list(product(params.bases, params.languages, params.seeds))
english, target = (
    dict(zip(keys, map(read_scores, paths), strict=True)) for paths in (inputs.english, inputs.target)
)
rows = dict(zip(params.languages, map(read_jsonl, inputs.rows), strict=True))
table = transfer_table(rows, english, target, Benchmark(**params.benchmark), Interval(**params.interval))
write_table(table, snakemake.output[0], TRANSFER_COLUMNS)
