"""Let a policy answer the questions that CARB is checked with."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.downstream.candidates import Sampling, policy_answers
from polyreward.core.files import read_jsonl, write_jsonl

inputs, params = snakemake.input, snakemake.params
answers = policy_answers(
    inputs.policy, read_jsonl(inputs.questions), Sampling(**params.sampling), params.seed
)
write_jsonl(answers, snakemake.output[0])
