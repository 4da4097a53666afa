"""Let judges reply to some questions that they were not trained on, before and after training."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.core.files import read_jsonl
from polyreward.think_as_locals.samples import COLUMNS, sampled_replies
from polyreward.scoring.families import load_reward_model
from polyreward.core.tables import write_table

params, questions = snakemake.params, read_jsonl(snakemake.input.questions)
judges = (
    (name, load_reward_model(entry, params.scoring, params.cache)) for name, entry in params.entries.items()
)
tables = [sampled_replies(judge, name, questions, params.temperature, params.seed) for name, judge in judges]
write_table(pd.concat(tables), snakemake.output[0], COLUMNS)
