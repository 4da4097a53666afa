"""Measure how far each rewrite moves each reward model's scores."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.perturbation.sensitivity import PERTURBATION_COLUMNS, grouped_table, with_replies
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, read_table, write_exact
from polyreward.think_as_locals.replies import REPLY_COLUMNS

params, files = snakemake.params, snakemake.input
groups = (params.kinds, files.scores, files.benchmark), (params.judges, files.judged, files.matches)
read = [(kinds, *(list(map(read_scores, part)) for part in parts)) for kinds, *parts in groups]
replies = {
    name: read_table(path, REPLY_COLUMNS) for name, path in zip(params.replied, files.replies, strict=True)
}
items = [item for path in files.item_files for item in read_jsonl(path)]
table = with_replies(grouped_table(read, params.zeros, items, Interval(**params.interval)), replies)
write_exact(table, snakemake.output[0], PERTURBATION_COLUMNS)
