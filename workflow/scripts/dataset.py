"""Read the raw rows of one dataset."""

from polyreward.jobs import start_job

start_job(snakemake)

from pathlib import Path

import yaml
from polyreward.files import write_jsonl
from polyreward.sources import dataset_rows

schema = yaml.safe_load(Path(snakemake.input.schema).read_text(encoding="utf-8"))
write_jsonl(dataset_rows(snakemake.params.entry, snakemake.wildcards.dataset, schema), snakemake.output[0])
