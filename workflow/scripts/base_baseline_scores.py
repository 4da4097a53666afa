"""Score all benchmarks and languages by a base model that no preference was shown: probe, log-likelihood, PMI."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.baselines import base_scores
from polyreward.files import read_jsonl
from polyreward.scoring.pairs import score_table
from polyreward.tables import write_scores

params = snakemake.params
train, rows_of_all = (list(map(read_jsonl, paths)) for paths in (snakemake.input.train, snakemake.input.rows))
scores = base_scores(snakemake.input.base, train, rows_of_all, params.scoring, params.seed)
for (rows, chosen, rejected), output in zip(scores, snakemake.output, strict=True):
    write_scores(score_table(rows, chosen, rejected), output)
