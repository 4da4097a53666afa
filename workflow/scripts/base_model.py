"""Fetch one pretrained model and keep it as safetensors."""

from polyreward.jobs import start_job

start_job(snakemake)

from polyreward.files import read_jsonl
from polyreward.revisions import at_commit
from polyreward.sources import fetch_base_model

entry = {**snakemake.params.entry, "source": at_commit(snakemake.params.entry["source"], snakemake.input.get("revision", []))}
corpus = [row[role] for path in snakemake.input.get("corpus", []) for row in read_jsonl(path) for role in ("prompt", "chosen")]
fetch_base_model(entry, snakemake.params.seed, corpus, snakemake.output[0])
