"""Read the raw rows of one dataset."""

from polyreward.core.jobs import start_job

start_job(snakemake)

from pathlib import Path

import yaml
from polyreward.core.files import write_jsonl
from polyreward.sources.revisions import at_commit
from polyreward.sources.fetch import dataset_rows

schema = yaml.safe_load(Path(snakemake.input.schema).read_text(encoding="utf-8"))
entry = at_commit(snakemake.params.entry, snakemake.input.get("revision", []))
write_jsonl(dataset_rows(entry, snakemake.wildcards.dataset, schema), snakemake.output[0])
