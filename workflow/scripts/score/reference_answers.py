"""Let a model answer the held-out instructions, for the judge to compare with."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.references import answered
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.scoring.families import load_reward_model

params, language = snakemake.params, snakemake.wildcards.language
model = load_reward_model(params.entry, params.scoring, params.cache).backend
write_jsonl(
    answered(read_jsonl(snakemake.input.instructions), model, f"reference answers, {language}"),
    snakemake.output[0],
)
