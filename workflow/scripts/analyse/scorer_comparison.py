"""Compare all scorers of one benchmark and language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.analysis.tables import SCORER_COLUMNS, SUBSET_COLUMNS, scorer_tables
from polyreward.core.tables import read_scores, write_table

params = snakemake.params
scores = dict(zip(params.scorers, map(read_scores, snakemake.input.scores), strict=True))
facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
rows, language = read_jsonl(snakemake.input.rows), snakemake.wildcards.language
tables = scorer_tables(rows, scores, params.baselines, language, facts, interval, params.halves)
write_table(tables[0], snakemake.output.scorers, SCORER_COLUMNS)
write_table(tables[1], snakemake.output.subsets, SUBSET_COLUMNS)
