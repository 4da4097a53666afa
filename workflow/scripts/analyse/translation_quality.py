"""Measure each engine's sample against the translations of the catalog."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from sacrebleu.metrics import CHRF

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.tables import write_table
from polyreward.ops.jobs import run
from polyreward.translation.catalog import roles_of

QUALITY_COLUMNS = ["engine", "language", "chrf", "length_ratio", "untranslated_pct", "n_texts"]


def quality_row(
    source: Sequence[dict], translated: Sequence[dict], reference: Sequence[dict], **key: str
) -> pd.DataFrame:
    """Return one row of the quality table, over the ids that the translation and the reference share.

    chrf: of the corpus, 0-100, sacrebleu's defaults. untranslated_pct: texts that equal their source."""
    by_id = [{row["id"]: row for row in rows} for rows in (source, translated, reference)]
    both = by_id[1].keys() & by_id[2].keys()
    if not both or not both <= by_id[0].keys():
        raise PolyrewardError(
            f"translation quality, {key}: no translated id has a reference, or one has no source;"
            " delete these translated rows, and run again"
        )
    triples = [
        texts
        for row_id, row in by_id[1].items()
        if row_id in both
        for role in roles_of(row)
        for texts in zip(*(contents(rows[row_id][role]) for rows in by_id), strict=True)
    ]
    sources, outputs, references = map(list, zip(*triples, strict=True))
    measures = {
        "chrf": CHRF().corpus_score(outputs, [references]).score,
        "length_ratio": sum(map(len, outputs)) / sum(map(len, sources)),
        "untranslated_pct": 100 * sum(a == b for a, b, _ in triples) / len(triples),
        "n_texts": len(triples),
    }
    return pd.DataFrame([{**key, **measures}])


def main(snakemake):
    inputs = snakemake.input
    source = read_jsonl(inputs.source)
    references = {Path(path).stem: read_jsonl(path) for path in inputs.references}
    rows = [
        quality_row(
            source, read_jsonl(path), references[path.stem], engine=path.parent.name, language=path.stem
        )
        for path in map(Path, inputs.samples)
    ]
    write_table(pd.concat(rows), snakemake.output[0], QUALITY_COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
