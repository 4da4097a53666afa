"""Judge the answers of every policy against the reference answers."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.alignment.judging import COLUMNS, judgements
from polyreward.core.files import read_jsonl
from polyreward.scoring.families import load_reward_model
from polyreward.core.tables import write_table

params, language = snakemake.params, snakemake.wildcards.language
judge = load_reward_model(params.entry, params.scoring, params.cache)
answers, references = read_jsonl(snakemake.input.answers), read_jsonl(snakemake.input.instructions)
write_table(judgements(answers, references, judge, language), snakemake.output[0], COLUMNS)
