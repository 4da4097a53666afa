"""Compare all reward models on one language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.analysis.tables import LANGUAGE_COLUMNS, language_table
from polyreward.core.tables import read_scores, write_table

params = snakemake.params
scores = dict(zip(params.models, map(read_scores, snakemake.input.scores), strict=True))
facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
table = language_table(
    read_jsonl(snakemake.input.rows), scores, snakemake.wildcards.language, facts, interval, params.halves
)
write_table(table, snakemake.output[0], LANGUAGE_COLUMNS)
