"""Score everything by one reward model of the configuration, loaded once."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import scores_or_reason
from polyreward.core.files import read_jsonl
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.pairs import score_rows
from polyreward.core.tables import write_scores

params = snakemake.params
with scores_or_reason(snakemake):
    reward_model = load_reward_model(params.entry, params.scoring, params.cache)
    for rows, output in zip(snakemake.input.rows, snakemake.output, strict=True):
        write_scores(score_rows(reward_model, read_jsonl(rows), output), output)
