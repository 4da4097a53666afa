"""GRPO of a judge, which is rewarded for its verdicts and its criteria."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from polyreward.think_as_locals.rewards import REWARDS, Rewards
from polyreward.training.grpo import GrpoTraining, train_by_grpo


@dataclasses.dataclass(frozen=True, kw_only=True)
class GrpoSettings(GrpoTraining):
    """How a judge is trained, from think_as_locals.grpo and the `rewards` of a run: {one of rewards.REWARDS:
    weight}.

    criteria: whether it writes criteria before its verdict. quote: characters of an answer that the last of
    them names; 0 for none."""

    rewards: dict[str, float]
    criteria: bool
    quote: int


def train_grpo(
    start_folder: str | Path,
    questions: Sequence[dict],
    settings: GrpoSettings,
    seed: int,
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
) -> None:
    """Train a judge on questions (request, right), as pairs.both_orders gives them: each label is right in
    every other one.

    Neighbours are kept or left out together, so that this stays so.

    checkpoints, out_folder: as in train_by_grpo. Raises PolyrewardError where fewer questions are left than
    one update takes."""
    longest = settings.max_length + settings.max_new_tokens

    def rewarder_of(tokenizer) -> Rewards:
        ends, budget = [tokenizer.eos_token_id], settings.batch_size * longest
        rewards = Rewards(tokenizer, ends, longest, budget, settings.criteria, settings.quote)
        rewards.weights = [settings.rewards[name] for name in REWARDS]
        return rewards

    train_by_grpo(
        start_folder,
        [{"prompt": [{"role": "user", "content": q["request"]}], "right": q["right"]} for q in questions],
        2,
        rewarder_of,
        settings,
        seed,
        checkpoints,
        out_folder,
        label,
        "raise think_as_locals.grpo.pairs or max_length, or lower batch_size",
    )
