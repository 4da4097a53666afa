"""GRPO of a policy whose reward is a reward model's score: its answers then say what that score is worth."""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch

from polyreward.carb.downstream.ratings import NOTHING
from polyreward.core.conversations import as_turns
from polyreward.core.draws import in_draw_order
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import unannounced
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations, RewardModel
from polyreward.settings.base import GrpoTraining
from polyreward.training.common import Job
from polyreward.training.grpo import train_by_grpo


class ScoreReward:
    """A reward model's score, as TRL asks for rewards; the replies to one prompt are scored together."""

    weights = (1.0,)

    def __init__(self, reward_model: RewardModel, label: str):
        self.reward_model, self.label = reward_model, label
        self.trainer, self.share = None, False  # of no use here

    def functions(self) -> list:
        """Return the only reward."""
        return [self.score]

    def score(self, prompts, completions, **kwargs) -> list[float]:
        """Return each reply's score. Raises PolyrewardError where one is not a number."""
        places = defaultdict(list)
        for number, prompt in enumerate(prompts):
            places[prompt[-1]["content"]].append(number)
        replies = [completion[-1]["content"].strip() or NOTHING for completion in completions]
        asked = [Conversations(prompt, tuple(replies[n] for n in own)) for prompt, own in places.items()]
        with unannounced():
            found = self.reward_model.score(asked, self.label)
        scores = np.empty(len(replies))
        for own, values in zip(places.values(), found.values, strict=True):
            scores[own] = values
        if not np.isfinite(scores).all():
            raise PolyrewardError(
                f"{self.label}: a reply's score is NaN or infinite; try `dtype: float32` for the reward model"
            )
        return scores.tolist()


def policy_prompts(items: Iterable[dict], count: int, seed: int) -> list[str]:
    """Return at most `count` prompts of items, each once, drawn by hash and mixed."""
    distinct = {item["prompt"]: item for item in items}
    return [row["prompt"] for row in in_draw_order(list(distinct.values()), seed, "carb", "grpo")[:count]]


def train_policy(
    start_folder: str | Path,
    prompts: Sequence[str],
    settings: GrpoTraining,
    job: Job,
    entry: dict,
    scoring: dict,
    cache: str | Path,
) -> None:
    """Train a policy on prompts with a reward model's score as its reward.

    entry, scoring, cache: as families.load_reward_model has them. Raises PolyrewardError where fewer prompts
    are left than one update takes."""

    def rewarder_of(tokenizer) -> ScoreReward:
        # Each process has a reward model of its own, next to its part of the policy.
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        return ScoreReward(load_reward_model(entry, scoring, cache), job.label)

    train_by_grpo(
        start_folder,
        [{"prompt": as_turns(prompt)} for prompt in prompts],
        1,
        rewarder_of,
        settings,
        job,
        "raise carb.grpo.prompts or max_length, or lower batch_size",
    )
