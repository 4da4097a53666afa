"""Fetch one pretrained model and keep it as safetensors."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.conversations import as_text
from polyreward.core.files import read_jsonl
from polyreward.sources.revisions import at_commit
from polyreward.sources.fetch import fetch_base_model

entry = {
    **snakemake.params.entry,
    "source": at_commit(snakemake.params.entry["source"], snakemake.input.get("revision", [])),
}
corpus = [
    as_text(row[role])
    for path in snakemake.input.get("corpus", [])
    for row in read_jsonl(path)
    for role in ("prompt", "chosen")
]
fetch_base_model(entry, snakemake.params.seed, corpus, snakemake.output[0])
