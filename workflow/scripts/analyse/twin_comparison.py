"""Compare all scorers on one language's twins."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.analysis.tables import TWIN_COLUMNS, twin_table
from polyreward.core.tables import read_scores, write_table

params, rows = snakemake.params, read_jsonl(snakemake.input.rows)
scores = dict(zip(params.scorers, map(read_scores, snakemake.input.scores), strict=True))
interval, sections = Interval(**params.interval), params.benchmark["sections"]
table = twin_table(rows, scores, params.baselines, snakemake.wildcards.language, sections, interval)
write_table(table, snakemake.output[0], TWIN_COLUMNS)
