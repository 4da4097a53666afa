"""Score one benchmark and language by length and by TF-IDF."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.baselines import length_scores, tfidf_scores
from polyreward.files import read_jsonl
from polyreward.scoring.pairs import score_table
from polyreward.tables import write_scores

train, rows, seed = read_jsonl(snakemake.input.train), read_jsonl(snakemake.input.rows), snakemake.params.seed
write_scores(score_table(rows, *length_scores(rows)), snakemake.output.length)
write_scores(score_table(rows, *tfidf_scores(train, rows, False, seed)), snakemake.output.answer)
write_scores(score_table(rows, *tfidf_scores(train, rows, True, seed)), snakemake.output.prompt_answer)
