"""What `polyreward score` prints."""

import pandas as pd

from polyreward.analysis.accuracy import subset_summary
from polyreward.evaluation.score import Evaluation

SHOWN = 10  # ids


def summary(found: Evaluation, limit: int | None) -> str:
    """Return an evaluation as text: of one model on one file each subset, of more the models, the best
    first."""
    parts = [
        _markdown(
            subset_summary(next(iter(found.scores.values())))
            if len(found.scores) == 1
            else found.table.drop(columns="chance_pct")
        )
    ]
    chances = {f"{row.chance_pct:.1f}": row.data for row in found.table.itertuples()}
    gets = (
        next(iter(chances))
        if len(chances) == 1
        else " ".join(f"{share} ({data})" for share, data in chances.items())
    )
    remarks = [f"A scorer that does not read gets {gets}. low and high are 95% Wilson intervals over items."]
    if found.against is not None:
        remarks.append(
            f"difference is from {found.against} on the same pairs, in percentage points, with its 95% paired"
            " bootstrap interval (over templates, where pairs name theirs); p_mcnemar is McNemar's exact"
            " test."
        )
    if limit is not None:
        remarks.append(f"Only the first {limit} pairs of each file (--limit) were scored.")
    remarks += _near(found)
    if found.kept:
        remarks.append(
            f"{len(found.kept)} of {len(found.scores)} score files were there already and not made again."
        )
    return "\n\n".join([*parts, "\n".join(remarks)])


def _markdown(table: pd.DataFrame) -> str:
    digits = tuple(".3f" if column == "p_mcnemar" else ".1f" for column in table.columns)
    return (
        table.astype(object)
        .where(table.notna(), None)
        .to_markdown(index=False, floatfmt=digits, missingval="")
    )


def _near(found: Evaluation) -> list[str]:
    """Return a line on the pairs of one model and file whose margin batching may turn; of more, the table
    counts them."""
    if len(found.scores) > 1:
        return []
    (scores,) = found.scores.values()
    near = list(scores["id"][scores["within_noise"]])
    listed = f"{', '.join(near[:SHOWN])}{' ...' if len(near) > SHOWN else ''}"
    return [f"Margins that batching may turn (n_within_noise): {listed}"] if near else []
