"""From preference rows to a table of scores, and its accuracies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.interface import Conversations, RewardModel

FP32_NOISE = (
    1e-4  # above what batching moves a margin by in fp32: 4e-5 at most on the mini models (docs/speed.md)
)
NOISE_SAMPLE = 16  # rows


def score_rows(reward_model: RewardModel, rows: Sequence[dict], label: str) -> pd.DataFrame:
    """Score evaluation rows; returns id, subset, category, score_chosen, score_rejected, truncated_share,
    within_noise.

    A row's `rejected` is one answer or a list; the highest of several is its score_rejected, so that chosen
    must beat all. within_noise: the margin is no larger than `margin_noise`. Raises PolyrewardError that
    names the rows whose score is not a number."""
    scores = reward_model.score([_conversations(row) for row in rows], label)
    table = score_table(
        rows, [values[0] for values in scores.values], [values[1:].max() for values in scores.values]
    )
    margins = (table["score_chosen"] - table["score_rejected"]).to_numpy()
    noise = margin_noise(reward_model, rows, margins)
    return table.assign(
        truncated_share=[cut.mean() for cut in scores.truncated], within_noise=np.abs(margins) <= noise
    )


def margin_noise(reward_model: RewardModel, rows: Sequence[dict], margins: np.ndarray) -> float:
    """Return by how much a margin may move when the same rows are batched in another way.

    margins: of the rows, as they were batched. Measured on the first rows, one by one, where a model is less
    exact than fp32."""
    if reward_model.exact:
        return FP32_NOISE
    alone = (
        reward_model.unbatched().score([_conversations(row) for row in rows[:NOISE_SAMPLE]], "noise").values
    )
    moved = np.array([values[0] - values[1:].max() for values in alone]) - margins[:NOISE_SAMPLE]
    return float(np.abs(moved).max())


def score_table(rows: Sequence[dict], chosen: Sequence[float], rejected: Sequence[float]) -> pd.DataFrame:
    """Put scores beside their rows, refusing any that is not a number."""
    table = pd.DataFrame(rows)[["id", "subset", "category"]]
    table = table.assign(
        score_chosen=np.asarray(chosen, dtype="float64"), score_rejected=np.asarray(rejected, dtype="float64")
    )
    bad = table[table[["score_chosen", "score_rejected"]].isna().any(axis=1)]
    if len(bad):
        listed = ", ".join(bad["id"].head(10))
        raise PolyrewardError(
            f"{len(bad)} rows have a score that is not a number ({listed}); a scorer must score every row"
        )
    return table


def _conversations(row: dict) -> Conversations:
    rejected = [row["rejected"]] if isinstance(row["rejected"], str) else row["rejected"]
    return Conversations(row["prompt"], (row["chosen"], *rejected))
