"""What length and script alone get on best-of-N items: near chance, or the benchmark is won by a trick."""

from collections.abc import Sequence

import pandas as pd

from polyreward.scoring.baselines import TextScorer, length_baseline, script_baseline
from polyreward.scoring.interface import Conversations


def text_scorers() -> dict[str, TextScorer]:
    """Return the baselines that see an answer's surface only, by name; each scores as a reward model does."""
    return {"length": length_baseline(), "script": script_baseline()}


def baseline_accuracies(items: Sequence[dict]) -> pd.DataFrame:
    """Return each text scorer's accuracy (%) per culture and domain: scorer, culture, domain, accuracy_pct,
    strict_pct, n_items.

    items: as selection.finished_items returns them. accuracy_pct shares a tie at the top out among the tied;
    strict_pct counts it as wrong."""
    conversations = [Conversations(item["prompt"], tuple(item["answers"])) for item in items]
    records = []
    for name, scorer in text_scorers().items():
        for item, scores in zip(items, scorer.score(conversations, name).values, strict=True):
            top = scores == scores.max()
            right = float(top[item["chosen"]]) / top.sum()
            records.append((name, item["culture"], item["domain"], 100 * right, 100 * (right == 1)))
    table = pd.DataFrame(records, columns=["scorer", "culture", "domain", "accuracy_pct", "strict_pct"])
    cells = table.groupby(["scorer", "culture", "domain"], sort=False)
    return cells.agg(
        accuracy_pct=("accuracy_pct", "mean"),
        strict_pct=("strict_pct", "mean"),
        n_items=("strict_pct", "size"),
    ).reset_index()
