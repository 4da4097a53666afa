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
from polyreward.scoring.interface import Conversations, RewardModel, Scores
from polyreward.scoring.pairs import margin_noise

# `template`: the item's topic, which is asked of many cultures; `language`: the culture's
SCORE_TYPES = {
    **dict.fromkeys(("id", "template", "language", "domain"), object),
    "candidate": "int64",
    "is_chosen": bool,
    "score": "float64",
    **dict.fromkeys(("truncated", "within_noise"), bool),
}
SCORE_COLUMNS = list(SCORE_TYPES)
Items = Sequence[dict]


def asked_of(items: Items) -> list[Conversations]:
    """Return the prompt and the answers of each item."""
    return [Conversations(item["prompt"], tuple(item["answers"])) for item in items]


def item_scores(
    reward_model: RewardModel, items: Items, label: str, scores: Scores | None = None
) -> pd.DataFrame:
    """Return a row per answer of some items: SCORE_COLUMNS, and `policy` where items have it.

    scores: the reward model's, where they are known already. within_noise: batching may move the chosen (or
    first) answer's lead over the best other that far. Raises PolyrewardError that names items whose scores
    are NaN."""
    if not items:  # the user's own have no rewrites
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in SCORE_TYPES.items()})
    if scores is None:
        scores = reward_model.score(asked_of(items), label)
    rows, margins = [], []
    for item, values in zip(items, scores.values, strict=True):
        place, answers = item["chosen"] or 0, item["answers"]
        rejected = [*answers[:place], *answers[place + 1 :]]
        rows.append({"prompt": item["prompt"], "chosen": answers[place], "rejected": rejected})
        margins.append(values[place] - np.delete(values, place).max())
    noisy = np.abs(margins) <= margin_noise(reward_model, rows, np.array(margins))
    records = []
    for item, values, cuts, is_noisy in zip(items, scores.values, scores.truncated, noisy, strict=True):
        key = {"id": item["id"], "template": item["topic"], "language": item["culture"]}
        policy = {"policy": item["policy"]} if "policy" in item else {}
        for number, (value, cut) in enumerate(zip(values, cuts, strict=True)):
            answer = {"candidate": number, "is_chosen": number == item["chosen"], "score": float(value)}
            found = {"truncated": bool(cut), "within_noise": bool(is_noisy), **policy}
            records.append({**key, "domain": item["domain"], **answer, **found})
    table = pd.DataFrame(records)
    bad = table.loc[table["score"].isna(), "id"].unique()
    if len(bad):
        advice = "try `dtype: float32` for it, or leave the scorer out"
        listed = ", ".join(bad[:10])
        raise PolyrewardError(f"{label}: the scores of {len(bad)} items are NaN ({listed}); {advice}")
    return table


def write_item_scores(
    reward_models: Mapping[str, RewardModel],
    item_files: Iterable[str | Path],
    outputs: Iterable[str | Path],
    label: str,
    known: Mapping[str, Scores] = {},
) -> None:
    """Score all items by each reward model, {scorer: it}, and write each file of scores.

    item_files: `<benchmark>/<culture or policy>.jsonl`. outputs: `<benchmark>/<scorer>/<same>.parquet`.
    known: {scorer: scores of all items}, of those that are not to be scored again."""
    files = {Path(path): list(read_jsonl(path)) for path in item_files}
    ends = np.cumsum([sum(len(item["answers"]) for item in items) for items in files.values()])
    tables = {}
    for scorer, reward_model in reward_models.items():
        every = [item for items in files.values() for item in items]
        table = item_scores(reward_model, every, label, known.get(scorer))
        for path, start, end in zip(files, [0, *ends], ends, strict=False):
            tables[path.parent.name, scorer, path.stem] = table.iloc[start:end]
    for output in outputs:
        benchmark, scorer, part = parse_score_path(output).values()
        write_scores(tables[benchmark, scorer, part], output, benchmark=benchmark, scorer=scorer)


def load_scorer(
    entry: dict, scoring: dict, cache: str | Path, frozen_states: Sequence[str | Path] = ()
) -> RewardModel:
    """Load a reward model.

    entry, scoring, cache: as families.load_reward_model takes them. frozen_states: hidden states of the
    items, for a classifier that shares its base's lower layers."""
    reward_model = load_reward_model(entry, scoring, cache)
    if not frozen_states:
        return reward_model
    return dataclasses.replace(reward_model, frozen=keep_frozen_states(reward_model.model, frozen_states))
