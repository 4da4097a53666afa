"""Measure a base's token embeddings by language."""

from pathlib import Path

from polyreward.analysis.embedding_norms import KS_COLUMNS, NORM_COLUMNS, base_norms
from polyreward.core.conversations import as_text
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run


def main(snakemake):
    inputs, params = snakemake.input, snakemake.params
    rows, passages = (
        {Path(path).stem: read_jsonl(path) for path in paths} for paths in (inputs.rows, inputs.passages)
    )
    texts = {
        language: [as_text(row[key]) for row in rows[language] for key in ("prompt", "chosen", "rejected")]
        + [row["text"] for row in passages[language]]
        for language in params.languages
    }
    norms, ks = base_norms(inputs.base, texts, params.source, params.share)
    write_table(norms, snakemake.output.norms, NORM_COLUMNS)
    write_table(ks, snakemake.output.ks, KS_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
