"""What `polyreward score` prints."""

import pandas as pd

from polyreward.analysis.accuracy import subset_summary
from polyreward.core.tables import as_markdown
from polyreward.evaluation.score import Evaluation

SHOWN = 10  # ids


def summary(found: Evaluation, limit: int | None) -> str:
    """Return an evaluation as text: each subset of one model and file, or the models, the best first."""
    table, near = found.table.drop(columns="chance_pct"), []
    if len(found.scores) == 1:
        (scores,) = found.scores.values()
        table, near = subset_summary(scores), list(scores["id"][scores["within_noise"]])
    chances = {f"{row.chance_pct:.1f}": row.data for row in found.table.itertuples()}
    several = len(chances) > 1
    gets = " ".join(f"{share} ({data})" if several else share for share, data in chances.items())
    remarks = [f"A scorer that does not read gets {gets}. low and high are 95% Wilson intervals over items."]
    if found.against is not None:
        remarks.append(
            f"difference is from {found.against} on the same pairs, in percentage points, with its 95% paired"
            " bootstrap interval (over templates, where pairs name theirs); p_mcnemar is McNemar's exact"
            " test."
        )
    if limit is not None:
        remarks.append(f"Only the first {limit} pairs of each file (--limit) were scored.")
    if near:
        ids = f"{', '.join(near[:SHOWN])}{' ...' if len(near) > SHOWN else ''}"
        remarks.append(f"Margins that batching may turn (n_within_noise): {ids}")
    if found.kept:
        remarks.append(f"{len(found.kept)} of {len(found.scores)} score files were there and are kept.")
    digits = tuple(".3f" if column == "p_mcnemar" else ".1f" for column in table.columns)
    filled: pd.DataFrame = table.astype(object).where(table.notna(), None)
    shown = as_markdown(filled, floatfmt=digits, missingval="")
    return f"{shown}\n\n" + "\n".join(remarks)
