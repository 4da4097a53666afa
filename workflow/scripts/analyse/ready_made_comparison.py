"""Compare on every language what was not trained here."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.analysis.tables import READY_MADE_COLUMNS, ready_made_table
from polyreward.core.tables import read_scores, write_table

params, found = snakemake.params, map(read_scores, snakemake.input.scores)
rows = dict(zip(params.languages, map(read_jsonl, snakemake.input.rows), strict=True))
scores = {language: {name: next(found) for name in params.kinds} for language in params.languages}
facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
table = ready_made_table(rows, scores, params.kinds, facts, interval, params.halves)
write_table(table, snakemake.output[0], READY_MADE_COLUMNS)
