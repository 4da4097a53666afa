"""Preference pairs from sampled responses: a reward model's best against its worst."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.scoring.interface import Conversations, RewardModel

COUNT_COLUMNS = ["language", "labeller", "prompts", "identical", "tied", "pairs", "same_pair_as_first"]


def labelled_pairs(
    responses: Sequence[dict], reward_model: RewardModel, label: str
) -> tuple[list[dict], dict[str, int]]:
    """Return (pairs of id, prompt, chosen, rejected, margin; counts) as a reward model labels responses (id,
    prompt, responses).

    Identical responses are one. A prompt is skipped where only one is left, or where all have the same
    reward. Source: arXiv 2410.18027, highest against lowest."""
    distinct = [list(dict.fromkeys(row["responses"])) for row in responses]
    several = [(row, texts) for row, texts in zip(responses, distinct, strict=True) if len(texts) > 1]
    scores = reward_model.score([Conversations(row["prompt"], tuple(texts)) for row, texts in several], label)
    pairs = []
    for (row, texts), values in zip(several, scores.values, strict=True):
        best, worst = int(np.argmax(values)), int(np.argmin(values))
        if values[best] > values[worst]:
            margin = float(values[best] - values[worst])
            pairs.append(
                {
                    "id": row["id"],
                    "prompt": row["prompt"],
                    "chosen": texts[best],
                    "rejected": texts[worst],
                    "margin": margin,
                }
            )
    counts = {
        "prompts": len(responses),
        "identical": len(responses) - len(several),
        "tied": len(several) - len(pairs),
        "pairs": len(pairs),
    }
    return pairs, counts


def counts_table(found: dict[str, tuple[list[dict], dict[str, int]]], language: str) -> pd.DataFrame:
    """Return what became of the prompts under each labeller, and how often it makes the first one's pair."""
    first = next(iter(found.values()))[0]
    return pd.DataFrame(
        [
            {"language": language, "labeller": name, **counts, "same_pair_as_first": agreement(first, pairs)}
            for name, (pairs, counts) in found.items()
        ]
    )


def agreement(first: Sequence[dict], second: Sequence[dict]) -> float:
    """Share of the prompts in both lists whose pairs are the same."""
    of_second = {pair["id"]: (pair["chosen"], pair["rejected"]) for pair in second}
    shared = [pair for pair in first if pair["id"] in of_second]
    return (
        float(np.mean([(pair["chosen"], pair["rejected"]) == of_second[pair["id"]] for pair in shared]))
        if shared
        else float("nan")
    )
