"""Scoring conversations with a reward model."""

import logging
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from statsmodels.stats.proportion import proportion_confint

from polyreward.accuracy import correctness
from polyreward.batches import padded, token_budget_batches
from polyreward.conversations import conversation_ids
from polyreward.errors import PolyrewardError
from polyreward.logs import announce

logger = logging.getLogger(__name__)


@torch.inference_mode()
def score_sequences(model, sequences: Sequence[Sequence[int]], pad_token_id: int, token_budget: int, label: str) -> np.ndarray:
    """Return the reward of each token sequence, in the given order, as float64.

    token_budget: tokens per padded batch. In fp32 a reward does not depend on its neighbours, to 1e-5."""
    rewards = np.full(len(sequences), np.nan)
    done, told = 0, 0
    for batch in token_budget_batches([len(ids) for ids in sequences], token_budget):
        inputs = padded([sequences[i] for i in batch], pad_token_id, model.device)
        rewards[batch] = model(**inputs, use_cache=False).logits[:, 0].float().cpu().numpy()
        done += len(batch)
        if done * 4 // len(sequences) > told:
            told = done * 4 // len(sequences)
            announce(f"{label}: scored {done}/{len(sequences)} sequences")
    return rewards


def score_pairs(model, tokenizer, rows: Sequence[dict], max_length: int, token_budget: int, label: str) -> pd.DataFrame:
    """Score evaluation rows; returns id, subset, category, score_chosen, score_rejected, truncated.

    Each distinct (prompt, answer) is scored once. Raises PolyrewardError that names the rows whose reward is not a number."""
    numbers: dict[tuple[int, ...], int] = {}
    places, truncated = [], []
    for row in rows:
        cut = False
        for answer in (row["chosen"], row["rejected"]):
            ids, was_cut = conversation_ids(tokenizer, row["prompt"], answer, max_length)
            places.append(numbers.setdefault(tuple(ids), len(numbers)))
            cut |= was_cut
        truncated.append(cut)
    rewards = score_sequences(model, list(numbers), tokenizer.pad_token_id, token_budget, label)[places]
    return score_table(rows, rewards[0::2], rewards[1::2], truncated)


def score_table(rows: Sequence[dict], chosen: Sequence[float], rejected: Sequence[float], truncated=False) -> pd.DataFrame:
    """Put scores beside their rows, refusing any that is not a number."""
    table = pd.DataFrame(rows)[["id", "subset", "category"]]
    table = table.assign(
        score_chosen=np.asarray(chosen, dtype="float64"),
        score_rejected=np.asarray(rejected, dtype="float64"),
        truncated=truncated,
    )
    bad = table[table[["score_chosen", "score_rejected"]].isna().any(axis=1)]
    if len(bad):
        listed = ", ".join(bad["id"].head(10))
        raise PolyrewardError(f"{len(bad)} rows have a score that is not a number ({listed}); a scorer must score every row")
    return table


def subset_summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Accuracy (%) of each subset and of all pairs, with 95% Wilson intervals over pairs; a tie is wrong."""
    right = pd.Series(correctness(scores, ties="wrong"), index=scores.index)
    groups = [*right.groupby(scores["subset"]), ("all pairs", right)]
    records = []
    for subset, values in groups:
        low, high = proportion_confint(values.sum(), len(values), alpha=0.05, method="wilson")
        records.append(
            {
                "subset": subset,
                "accuracy_pct": 100 * values.mean(),
                "low": 100 * low,
                "high": 100 * high,
                "n_pairs": len(values),
            }
        )
    return pd.DataFrame(records)
