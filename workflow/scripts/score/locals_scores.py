"""Score one judge on a part of the translated benchmark and of CARB, and count its replies."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.unavailable import scores_or_reason
from polyreward.core.files import read_jsonl
from polyreward.think_as_locals.evaluation import (
    Remembering,
    asked,
    knockout_scores,
    match_scores,
    row_scores,
    said_by,
)
from polyreward.think_as_locals.replies import REPLY_COLUMNS, reply_counts
from polyreward.scoring.families import load_reward_model
from polyreward.core.tables import write_scores, write_table

files, params, output, name = snakemake.input, snakemake.params, snakemake.output, snakemake.wildcards.local
said, every = [], dict(zip(params.languages, map(read_jsonl, files.rows), strict=True))
rows, items = asked(every, sum(map(read_jsonl, files.item_files), []), **params.part, seed=params.seed)
with scores_or_reason(snakemake):
    judge = load_reward_model(params.entry, params.scoring, params.cache)
    write_scores(row_scores(judge, rows, f"{name}, benchmark"), output.rewardbench)
    playing = Remembering(judge)
    write_scores(knockout_scores(playing, items, params.seed, f"{name}, CARB"), output.carb)
    write_scores(match_scores(playing, items), output.matches)
    said = said_by(judge)
write_table(reply_counts(said), output.replies, REPLY_COLUMNS)
