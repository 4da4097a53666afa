"""Score one reward model on one benchmark, in all the languages asked for."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.frozen import keep_frozen_states
from polyreward.reward_model import load_reward_model
from polyreward.scoring import score_pairs
from polyreward.tables import write_scores

params = snakemake.params.scoring
model, tokenizer = load_reward_model(snakemake.input.model, params["dtype"])
keep_frozen_states(model, snakemake.input.frozen)
for rows, output in zip(snakemake.input.rows, snakemake.output, strict=True):
    scores = score_pairs(model, tokenizer, read_jsonl(rows), params["max_length"], params["token_budget"], output)
    write_scores(scores, output)
