"""Score CARB's items by what shows on an answer's surface."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.baselines import text_scorers
from polyreward.carb.scores import scores_by_file
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_scores

scorers = [text_scorers()[name] for name in snakemake.params.scorers]
tables = scores_by_file(scorers, list(map(read_jsonl, snakemake.input.item_files)), "text baselines")
for table, output in zip(tables, snakemake.output, strict=True):
    write_scores(table, output)
