"""Measure a base's token embeddings by language."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.conversations import as_text
from polyreward.analysis.embedding_norms import KS_COLUMNS, NORM_COLUMNS, base_norms
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table

inputs = snakemake.input
texts = {
    language: [as_text(row[key]) for row in read_jsonl(rows) for key in ("prompt", "chosen", "rejected")]
    + [row["text"] for row in read_jsonl(passages)]
    for language, rows, passages in zip(snakemake.params.languages, inputs.rows, inputs.passages, strict=True)
}
norms, ks = base_norms(inputs.base, texts, snakemake.params.source, snakemake.params.share)
write_table(norms, snakemake.output.norms, NORM_COLUMNS)
write_table(ks, snakemake.output.ks, KS_COLUMNS)
