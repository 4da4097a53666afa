"""Rate the answers that each reward model picks, and those of the policies that it trained."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

import pandas as pd
from polyreward.carb.downstream.picks import PICK_COLUMNS, pick_table, pooled, trained_tables
from polyreward.core.unavailable import present
from polyreward.core.files import read_jsonl
from polyreward.core.tables import read_scores, write_table

params, inputs = snakemake.params, snakemake.input
tables, trained = (
    map(read_scores, inputs.scores),
    dict(zip(params.trained, map(read_jsonl, inputs.trained), strict=True)),
)
picks = [
    pick_table(
        policy, read_jsonl(answers), *present({name: next(tables) for name in params.kinds}), params.kinds
    )
    for policy, answers in zip(params.policies, inputs.candidates, strict=True)
] + trained_tables(params.start, list(map(read_jsonl, inputs.before)), trained, params.kinds)
write_table(pd.concat([*picks, pooled(pd.concat(picks))]), snakemake.output[0], PICK_COLUMNS)
