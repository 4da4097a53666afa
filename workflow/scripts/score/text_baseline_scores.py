"""Score one benchmark and language by length and by TF-IDF."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.scoring.baselines import length_baseline, tfidf_baseline
from polyreward.core.files import read_jsonl
from polyreward.scoring.pairs import score_rows
from polyreward.core.tables import write_scores

train, rows, seed = read_jsonl(snakemake.input.train), read_jsonl(snakemake.input.rows), snakemake.params.seed
scorers = (length_baseline(), tfidf_baseline(train, False, seed), tfidf_baseline(train, True, seed))
for scorer, output in zip(scorers, snakemake.output, strict=True):
    write_scores(score_rows(scorer, rows, output), output)
