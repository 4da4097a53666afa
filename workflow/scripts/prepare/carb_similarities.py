"""Measure how near each wrong answer is to the right one."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.items.similarity import Encoder, similarities
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_sealed

encoder = Encoder(**snakemake.params.embedding, token_budget=snakemake.params.token_budget)
write_sealed(similarities(read_jsonl(snakemake.input.possible), encoder), snakemake.output[0])
