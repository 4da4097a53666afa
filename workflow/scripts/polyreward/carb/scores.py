"""Scoring items of one chosen and several rejected answers with any reward model."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.accel.frozen import keep_frozen_states
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations, RewardModel
from polyreward.scoring.knockout import Knockout
from polyreward.scoring.pairs import margin_noise

SCORE_COLUMNS = ["id", "culture", "domain", "candidate", "is_chosen", "score", "truncated", "within_noise"]
SCORE_TYPES = [object, object, object, "int64", bool, "float64", bool, bool]
Items = Sequence[dict]


def item_scores(reward_model: RewardModel, items: Items, label: str) -> pd.DataFrame:
    """Score the answers of items; returns a row per answer, with SCORE_COLUMNS.

    items: id, culture, domain, prompt, answers, and the number of the chosen one (None where none is).
    within_noise: what the chosen answer (or the first, where none is chosen) is ahead of the best other is no
    more than what batching may move. Raises PolyrewardError that names the items with a score that is not a
    number."""
    if not items:  # of a set of rewrites of which the user's own items bring none
        return pd.DataFrame(
            {name: pd.Series(dtype=kind) for name, kind in zip(SCORE_COLUMNS, SCORE_TYPES, strict=True)}
        )
    scores = reward_model.score(
        [Conversations(item["prompt"], tuple(item["answers"])) for item in items], label
    )
    margins = np.array(
        [_margin(values, item["chosen"]) for item, values in zip(items, scores.values, strict=True)]
    )
    noisy = np.abs(margins) <= margin_noise(reward_model, [_as_row(item) for item in items], margins)
    columns = {name: [] for name in SCORE_COLUMNS}
    for item, values, cut, is_noisy in zip(items, scores.values, scores.truncated, noisy, strict=True):
        size = len(values)
        for name in ("id", "culture", "domain"):
            columns[name] += [item[name]] * size
        columns["candidate"] += range(size)
        columns["is_chosen"] += [number == item["chosen"] for number in range(size)]
        columns["score"] += [float(value) for value in values]
        columns["truncated"] += [bool(was) for was in cut]
        columns["within_noise"] += [bool(is_noisy)] * size
    table = pd.DataFrame(columns)
    bad = table.loc[table["score"].isna(), "id"].unique()
    if len(bad):
        listed = ", ".join(bad[:10])
        raise PolyrewardError(
            f"{label}: {len(bad)} items have a score that is not a number ({listed}); a scorer must score"
            " every answer"
        )
    return table


def scores_by_file(
    reward_models: Sequence[RewardModel], files: Sequence[Items], label: str
) -> Iterator[pd.DataFrame]:
    """Yield for each reward model, and in it for each file of items, its table; a reward model scores all
    files at once."""
    for reward_model in reward_models:
        table = item_scores(reward_model, [item for items in files for item in items], label)
        ends = np.cumsum([sum(len(item["answers"]) for item in items) for items in files])
        yield from (
            table.iloc[end - size : end] for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)
        )


def loaded(
    entry: dict, scoring: dict, cache: str | Path, frozen_states: Sequence[str | Path], knockout: int | None
) -> list[RewardModel]:
    """Load a reward model: [itself], or where it plays a knock-out too, [itself, Knockout of it].

    entry, scoring, cache: as families.load_reward_model has them. frozen_states: files of `save_item_states`,
    for a classifier whose lower layers are its base's own. knockout: the seed of its draws, None for none."""
    reward_model = load_reward_model(entry, scoring, cache)
    if frozen_states:
        reward_model = dataclasses.replace(
            reward_model, frozen=keep_frozen_states(reward_model.model, frozen_states)
        )
    return [reward_model] if knockout is None else [reward_model, Knockout(reward_model, knockout)]


def _as_row(item: dict) -> dict:
    """Return an item as a preference row; where no answer is chosen, the first stands for it, as in
    `_margin`."""
    answers, chosen = item["answers"], item["chosen"] or 0
    return {
        "prompt": item["prompt"],
        "chosen": answers[chosen],
        "rejected": [*answers[:chosen], *answers[chosen + 1 :]],
    }


def _margin(values: np.ndarray, chosen: int | None) -> float:
    """Return what the chosen answer is ahead of the best other."""
    return values[chosen or 0] - np.delete(values, chosen or 0).max()
