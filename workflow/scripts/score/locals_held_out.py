"""Ask one judge about pairs of the topics that it is trained on, which it was not trained on."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_exact
from polyreward.scoring.families import load_reward_model
from polyreward.think_as_locals.learning import HELD_OUT_COLUMNS, held_out_verdicts

params, name = snakemake.params, snakemake.wildcards.learner
judge = load_reward_model(params.entry, params.scoring, params.cache)
table = held_out_verdicts(judge, read_jsonl(snakemake.input.questions), f"{name}, held-out pairs")
write_exact(table, snakemake.output[0], HELD_OUT_COLUMNS)
