"""Score rewritten answers, and the same answers in all languages, by one reward model."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.scoring.against_first import comparable
from polyreward.carb.scores import loaded, scores_by_file
from polyreward.core.unavailable import scores_or_reason
from polyreward.core.files import read_jsonl
from polyreward.think_as_locals.evaluation import said_by
from polyreward.think_as_locals.replies import REPLY_COLUMNS, reply_counts
from polyreward.core.tables import write_scores, write_table

params, inputs, files = snakemake.params, snakemake.input, snakemake.output
said = []
with scores_or_reason(snakemake):
    (reward_model,) = loaded(params.entry, params.scoring, params.cache, inputs.frozen, None)
    reward_models = [comparable(reward_model, params.entry["kind"])]
    tables = scores_by_file(reward_models, list(map(read_jsonl, inputs.item_files)), snakemake.wildcards[0])
    for table, output in zip(tables, files.scores, strict=True):
        write_scores(table, output)
    said = said_by(reward_model)
write_table(reply_counts(said), files.replies, REPLY_COLUMNS)
