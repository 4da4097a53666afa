"""Check a benchmark of the user's own."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import write_jsonl
from polyreward.prepare.pair_files import read_pairs

write_jsonl(read_pairs(snakemake.input[0]), snakemake.output[0])
