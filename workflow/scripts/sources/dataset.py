"""Read the raw rows of one dataset."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.files import write_jsonl
from polyreward.sources.revisions import at_commit
from polyreward.sources.fetch import dataset_rows
from polyreward.core.yaml_files import read_yaml

schema = read_yaml(snakemake.input.schema)
entry = at_commit(snakemake.params.entry, snakemake.input.get("revision", []))
write_jsonl(dataset_rows(entry, snakemake.wildcards.dataset, schema), snakemake.output[0])
