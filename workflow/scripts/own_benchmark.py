"""Check a benchmark of the user's own."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl, write_jsonl
from polyreward.prepare import checked_rows

write_jsonl(checked_rows(read_jsonl(snakemake.input[0]), snakemake.input[0]), snakemake.output[0])
