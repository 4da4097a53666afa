"""GRPO of a judge, which is rewarded for its verdicts and its criteria."""

from collections.abc import Sequence
from pathlib import Path

from polyreward.core.conversations import as_turns
from polyreward.settings.think_as_locals import Grpo, RewardWeights
from polyreward.think_as_locals.rewards import Rewards
from polyreward.training.common import Job
from polyreward.training.grpo import train_by_grpo


def train_grpo(
    start_folder: str | Path,
    questions: Sequence[dict],
    settings: Grpo,
    job: Job,
    rewards: RewardWeights,
    criteria: bool,
    quote: int,
) -> None:
    """Train a judge on questions (request, right), as pairs.both_orders gives them; neighbours stay together.

    criteria, quote: as in Rewards."""
    longest = settings.max_length + settings.max_new_tokens

    def rewarder_of(tokenizer) -> Rewards:
        return Rewards(tokenizer, rewards, longest, settings.batch_size * longest, criteria, quote)

    train_by_grpo(
        start_folder,
        [{"prompt": as_turns(asked["request"]), "right": asked["right"]} for asked in questions],
        2,
        rewarder_of,
        settings,
        job,
        "raise think_as_locals.grpo.pairs or max_length, or lower batch_size",
        {"rewards": rewards.model_dump(), "criteria": criteria, "quote": quote},
    )
