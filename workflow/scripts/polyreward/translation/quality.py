"""Translation quality, as far as a machine can measure it."""

from collections.abc import Sequence

import pandas as pd
from sacrebleu.metrics import CHRF

from polyreward.core.conversations import contents
from polyreward.core.errors import PolyrewardError
from polyreward.translation.catalog import roles_of

QUALITY_COLUMNS = ["engine", "language", "chrf", "length_ratio", "untranslated_pct", "n_texts"]


def quality_row(
    source: Sequence[dict], translated: Sequence[dict], reference: Sequence[dict], **key: str
) -> pd.DataFrame:
    """Return a row of the quality table: chrF against the reference, length ratio, share left untranslated.

    Rows are matched by the ids of translation and reference, which the source must have too. chrf is
    corpus-level (0 to 100, sacrebleu's defaults). length_ratio is the translation's characters over the
    source's. untranslated_pct is the share (%) of texts equal to their source.
    """
    by_id = [{row["id"]: row for row in rows} for rows in (source, translated, reference)]
    both = by_id[1].keys() & by_id[2].keys()
    if not both or not both <= by_id[0].keys():
        raise PolyrewardError(
            "translation quality: no translated id has a reference, or one has no source; make them again"
        )
    triples = [
        texts
        for row_id, row in by_id[1].items()
        if row_id in both
        for role in roles_of(row)
        for texts in zip(*(contents(rows[row_id][role]) for rows in by_id), strict=True)
    ]
    sources, outputs, references = map(list, zip(*triples, strict=True))
    return pd.DataFrame(
        [
            {
                **key,
                "chrf": CHRF().corpus_score(outputs, [references]).score,
                "length_ratio": sum(map(len, outputs)) / sum(map(len, sources)),
                "untranslated_pct": (
                    100 * sum(a == b for a, b in zip(sources, outputs, strict=True)) / len(sources)
                ),
                "n_texts": len(sources),
            }
        ]
    )
