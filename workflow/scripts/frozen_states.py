"""Compute the hidden states after a base's frozen layers for one set of rows."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.frozen import save_frozen_states

params = snakemake.params
save_frozen_states(
    snakemake.input.base, read_jsonl(snakemake.input.rows), params.top_layers, params.max_length, params.bf16,
    params.token_budget, snakemake.output[0],
)  # fmt: skip
