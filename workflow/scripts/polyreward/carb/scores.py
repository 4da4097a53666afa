"""Scoring items of one chosen and several rejected answers with any reward model."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.accel.frozen import keep_frozen_states
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.tables import parse_score_path, write_scores
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations, RewardModel
from polyreward.scoring.knockout import Knockout
from polyreward.scoring.pairs import margin_noise

# `template`: the item's topic, which is asked of many cultures; `language`: the culture's
SCORE_TYPES = {
    "id": object,
    "template": object,
    "language": object,
    "domain": object,
    "candidate": "int64",
    "is_chosen": bool,
    "score": "float64",
    "truncated": bool,
    "within_noise": bool,
}
SCORE_COLUMNS = list(SCORE_TYPES)
Items = Sequence[dict]


def item_scores(reward_model: RewardModel, items: Items, label: str) -> pd.DataFrame:
    """Return a row per answer of some items: SCORE_COLUMNS, and `policy` where items have it.

    within_noise: batching may move the chosen answer's lead over the best other that far; where no answer is
    chosen, the first counts as chosen. Raises PolyrewardError that names items whose scores are NaN."""
    if not items:  # of a set of rewrites of which the user's own items bring none
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in SCORE_TYPES.items()})
    asked = [Conversations(item["prompt"], tuple(item["answers"])) for item in items]
    scores = reward_model.score(asked, label)
    chosen = [item["chosen"] or 0 for item in items]
    margins = np.array(  # what the chosen answer is ahead of the best other
        [
            values[place] - np.delete(values, place).max()
            for place, values in zip(chosen, scores.values, strict=True)
        ]
    )
    noisy = np.abs(margins) <= margin_noise(reward_model, list(map(_as_row, items, chosen)), margins)
    records = []
    for item, values, cuts, is_noisy in zip(items, scores.values, scores.truncated, noisy, strict=True):
        key = {
            "id": item["id"],
            "template": item["topic"],
            "language": item["culture"],
            "domain": item["domain"],
        }
        policy = {"policy": item["policy"]} if "policy" in item else {}
        for number, (value, cut) in enumerate(zip(values, cuts, strict=True)):
            answer = {"candidate": number, "is_chosen": number == item["chosen"], "score": float(value)}
            records.append(
                {**key, **answer, "truncated": bool(cut), "within_noise": bool(is_noisy), **policy}
            )
    table = pd.DataFrame(records)
    bad = table.loc[table["score"].isna(), "id"].unique()
    if len(bad):
        listed = ", ".join(bad[:10])
        raise PolyrewardError(
            f"{label}: the scores of {len(bad)} items are NaN ({listed}); try `dtype: float32` for it,"
            " or leave the scorer out"
        )
    return table


def write_item_scores(
    reward_models: Mapping[str, RewardModel],
    item_files: Iterable[str | Path],
    outputs: Iterable[str | Path],
    label: str,
) -> None:
    """Score all items by each reward model, {scorer: it}, and write each file of scores.

    item_files: `<benchmark>/<part>.jsonl`, where a part is a culture or a policy. outputs:
    `<benchmark>/<scorer>/<part>.parquet`."""
    files = {Path(path): list(read_jsonl(path)) for path in item_files}
    ends = np.cumsum([sum(len(item["answers"]) for item in items) for items in files.values()])
    tables = {}
    for scorer, reward_model in reward_models.items():
        table = item_scores(reward_model, [item for items in files.values() for item in items], label)
        for path, start, end in zip(files, [0, *ends], ends, strict=False):
            tables[path.parent.name, scorer, path.stem] = table.iloc[start:end]
    for output in outputs:
        benchmark, scorer, part = parse_score_path(output).values()
        write_scores(tables[benchmark, scorer, part], output, benchmark=benchmark, scorer=scorer)


def load_scorers(
    name: str,
    entry: dict,
    scoring: dict,
    cache: str | Path,
    frozen_states: Sequence[str | Path] = (),
    knockout: int | None = None,
) -> dict[str, RewardModel]:
    """Load a reward model: {name: it}, and in a knock-out as `<name>-knockout`, where it has a seed.

    entry, scoring, cache: as families.load_reward_model takes them. frozen_states: hidden states of the
    items, for a classifier that shares its base's lower layers. knockout: the seed of its draws."""
    reward_model = load_reward_model(entry, scoring, cache)
    if frozen_states:
        frozen = keep_frozen_states(reward_model.model, frozen_states)
        reward_model = dataclasses.replace(reward_model, frozen=frozen)
    played = {} if knockout is None else {f"{name}-knockout": Knockout(reward_model, knockout)}
    return {name: reward_model, **played}


def _as_row(item: dict, chosen: int) -> dict:
    """Return an item as a preference row."""
    answers = item["answers"]
    rejected = [*answers[:chosen], *answers[chosen + 1 :]]
    return {"prompt": item["prompt"], "chosen": answers[chosen], "rejected": rejected}
