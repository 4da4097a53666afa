"""Say how far each rewrite moves each reward model's scores."""

from polyreward.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.analysis import Interval
from polyreward.carb.sensitivity import PERTURBATION_COLUMNS, display_perturbations, grouped_table, with_replies
from polyreward.locals.replies import REPLY_COLUMNS
from polyreward.renderings import write_artifact
from polyreward.tables import read_table

params, files = snakemake.params, snakemake.input
groups = (params.kinds, files.scores, files.benchmark), (params.judges, files.judged, files.matches)
read = [(kinds, *(list(map(pd.read_parquet, part)) for part in parts)) for kinds, *parts in groups]
replies = {name: read_table(path, REPLY_COLUMNS) for name, path in zip(params.replied, files.replies, strict=True)}
table = with_replies(grouped_table(read, Interval(**params.interval)), replies)
shown = display_perturbations(table, params.confidence)
write_artifact(table, PERTURBATION_COLUMNS, params.caption, "carb_perturbation", snakemake.output, shown)
