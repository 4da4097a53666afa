"""Compute the hidden states after a base's frozen layers for one set of rows in every language."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.frozen import save_frozen_states

params, rows = snakemake.params, map(read_jsonl, snakemake.input.rows)
limits = (params.top_layers, params.max_length, params.precision, params.token_budget)
save_frozen_states(snakemake.input.base, dict(zip(params.languages, rows, strict=True)), *limits, snakemake.output[0])
