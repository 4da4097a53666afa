"""GRPO of a judge, which is rewarded for its verdicts and its criteria."""

from collections.abc import Sequence
from pathlib import Path

from polyreward.core.conversations import as_turns
from polyreward.settings.think_as_locals import Grpo, RewardWeights
from polyreward.think_as_locals.rewards import REWARDS, Rewards
from polyreward.training.grpo import train_by_grpo


def train_grpo(
    start_folder: str | Path,
    questions: Sequence[dict],
    settings: Grpo,
    rewards: RewardWeights,
    criteria: bool,
    quote: int,
    seed: int,
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
    precision: str = "float32",
    liger: bool = False,
) -> None:
    """Train a judge on questions (request, right), as pairs.both_orders gives them; neighbours stay together.

    criteria: whether the judge writes criteria before its verdict. quote: characters of an answer that the
    last of them names; 0 for none. The others: as in train_by_grpo."""
    longest = settings.max_length + settings.max_new_tokens

    def rewarder_of(tokenizer) -> Rewards:
        ends, budget = [tokenizer.eos_token_id], settings.batch_size * longest
        rewarder = Rewards(tokenizer, ends, longest, budget, criteria, quote)
        rewarder.weights = [getattr(rewards, name) for name in REWARDS]
        return rewarder

    train_by_grpo(
        start_folder,
        [{"prompt": as_turns(q["request"]), "right": q["right"]} for q in questions],
        2,
        rewarder_of,
        settings,
        seed,
        checkpoints,
        out_folder,
        label,
        "raise think_as_locals.grpo.pairs or max_length, or lower batch_size",
        precision,
        liger,
        {"rewards": rewards.model_dump(), "criteria": criteria, "quote": quote},
    )
