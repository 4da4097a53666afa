"""Rate the answers that each reward model picks."""

from polyreward.core.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.validity import PICK_COLUMNS, pick_table, pooled
from polyreward.core.absent import present
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, write_table

params, inputs = snakemake.params, snakemake.input
tables = map(read_scores, inputs.scores)
picks = [
    pick_table(policy, read_jsonl(answers), *present({name: next(tables) for name in params.kinds}), params.kinds)
    for policy, answers in zip(params.policies, inputs.candidates, strict=True)
]
write_table(pd.concat([*picks, pooled(pd.concat(picks))]), snakemake.output[0], PICK_COLUMNS)
