"""Rate the answers that each reward model picks, and those of the policies that it trained."""

from polyreward.core.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.picks import PICK_COLUMNS, pick_table, pooled, trained_tables
from polyreward.core.absent import present
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, write_table

params, inputs = snakemake.params, snakemake.input
tables, answers = map(read_scores, inputs.scores), map(read_jsonl, inputs.trained)
picks = [
    pick_table(policy, read_jsonl(path), *present({name: next(tables) for name in params.kinds}), params.kinds)
    for policy, path in zip(params.policies, inputs.candidates, strict=True)
]
picks += trained_tables(params.start, next(answers, []), dict(zip(params.trained, answers, strict=True)), params.kinds)
write_table(pd.concat([*picks, pooled(pd.concat(picks))]), snakemake.output[0], PICK_COLUMNS)
