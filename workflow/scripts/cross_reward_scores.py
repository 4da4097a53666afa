"""Score a base's reward models on the languages that they were not trained in."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows
from polyreward.tables import write_scores

params, inputs, outputs = snakemake.params, snakemake.input, iter(snakemake.output)
rows = dict(zip(params.languages, map(read_jsonl, inputs.rows), strict=True))
for model, others in zip(inputs.models, params.others, strict=True):
    reward_model = load_classifier(model, **params.scoring, frozen_states=inputs.frozen)
    for language, output in zip(others, outputs, strict=False):
        write_scores(score_rows(reward_model, rows[language], output), output)
