"""Test whether the source-language reward models beat length."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.comparison import Benchmark
from polyreward.analysis.bootstrap import Interval
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores
from polyreward.analysis.tables import GATE_COLUMNS, gate_table
from polyreward.artifacts.renderings import write_artifact

params, rows = snakemake.params, read_jsonl(snakemake.input.rows)
scores = dict(zip([*params.models, *params.baselines], map(read_scores, snakemake.input.scores), strict=True))
facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
table = gate_table(rows, scores, params.models, params.baselines, params.language, facts, interval)
write_artifact(table, GATE_COLUMNS, params.caption, "gate", snakemake.output)
