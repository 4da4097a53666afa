"""Put each culture's own answer beside what other cultures' references say."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.carb.items.construct import possible_items
from polyreward.carb.items.cultures import read_cultures
from polyreward.core.files import read_jsonl, write_jsonl

cultures = read_cultures(snakemake.input.cultures, snakemake.params.cultures)
write_jsonl(possible_items(read_jsonl(snakemake.input.references), cultures), snakemake.output[0])
