"""Put each culture's own answer beside what other cultures' references say."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from polyreward.carb.construct import possible_items
from polyreward.carb.cultures import read_cultures
from polyreward.core.files import read_jsonl, write_jsonl

cultures = read_cultures(snakemake.input.cultures, snakemake.params.cultures)
write_jsonl(possible_items(read_jsonl(snakemake.input.references), cultures), snakemake.output[0])
