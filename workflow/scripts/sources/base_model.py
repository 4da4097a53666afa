"""Fetch a pretrained model and save it as safetensors."""

from polyreward.core.conversations import as_text
from polyreward.core.files import read_jsonl
from polyreward.ops.jobs import run
from polyreward.sources.base_models import fetch_base_model
from polyreward.sources.revisions import at_commit


def main(snakemake):
    files, entry = snakemake.input, snakemake.params.entry
    source = at_commit(entry["source"], files.get("revision", []))
    rows = read_jsonl(files.get("corpus", []))
    corpus = [as_text(row[role]) for row in rows for role in ("prompt", "chosen")]
    fetch_base_model({**entry, "source": source}, snakemake.params.seed, corpus, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
