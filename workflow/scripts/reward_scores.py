"""Score one reward model on one benchmark, in all the languages asked for."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.frozen import frozen_files
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows
from polyreward.tables import write_scores

frozen = frozen_files(snakemake.input.frozen)
reward_model = load_classifier(snakemake.input.model, **snakemake.params.scoring, frozen_states=frozen)
for rows, output in zip(snakemake.input.rows, snakemake.output, strict=True):
    write_scores(score_rows(reward_model, read_jsonl(rows), output), output)
