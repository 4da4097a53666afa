"""Compare judges on both benchmarks."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.analysis.comparison import Benchmark
from polyreward.core.tables import read_scores, read_table, write_exact
from polyreward.think_as_locals.comparison import COLUMNS, comparison_table
from polyreward.think_as_locals.replies import REPLY_COLUMNS

files, params = snakemake.input, snakemake.params
scores = [
    dict(zip(params.judges, map(read_scores, paths), strict=True))
    for paths in (files.rewardbench, files.carb)
]
replies = {
    name: read_table(path, REPLY_COLUMNS) for name, path in zip(params.judges, files.replies, strict=True)
}
facts, interval = Benchmark(**params.benchmark), Interval(**params.interval)
table = comparison_table(
    *scores, replies, params.contrasts, facts, params.cultures, params.domains, interval, params.half_ties
)
write_exact(table, snakemake.output[0], COLUMNS)
