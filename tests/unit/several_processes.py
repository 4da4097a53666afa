"""What processes do that tests launch together; accelerate imports it by name in each of them."""

import os
import signal
from collections import Counter
from pathlib import Path

import yaml
from accelerate.state import PartialState
from accelerate.utils import DistributedType
from transformers import Trainer
from trl import GRPOTrainer

from polyreward.scoring.criteria_layout import written
from polyreward.settings.think_as_locals import Grpo
from polyreward.settings.transfer import Dpo, RewardModelTraining
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training import common, finish, grpo, policies
from polyreward.training import reward_model as training

ROOT = Path(__file__).parents[2]


def launch_config(name: str, **changes) -> dict:
    """Return one of workflow/accelerate/, for two processes."""
    config = yaml.safe_load((ROOT / f"workflow/accelerate/{name}.yaml").read_text(encoding="utf-8"))
    return {**config, "num_processes": 2, "use_cpu": True, **changes}


def _kill_one(settings: RewardModelTraining) -> None:
    """Let the second process be killed while the second checkpoint is written."""
    save = Trainer._save_rng_state

    def save_or_die(self, output_dir):
        if self.args.process_index == 1 and self.state.global_step == 2 * settings.save_every:
            os.kill(os.getpid(), signal.SIGKILL)
        save(self, output_dir)

    Trainer._save_rng_state = save_or_die


def train_until_one_is_killed(settings: RewardModelTraining, **arguments) -> None:
    """Train; one process is killed."""
    _kill_one(settings)
    training.train_reward_model(settings=settings, **arguments)


def train_spread_until_one_is_killed(settings: RewardModelTraining, **arguments) -> None:
    """Train a model that is spread; one process is killed."""
    _kill_one(settings)
    train_spread(settings=settings, **arguments)


def _spread() -> None:
    """Let accelerate believe that it has accelerators: it spreads no model over CPUs else (FSDP, ZeRO-3)."""
    PartialState._prepare_backend = lambda self, *args, **kwargs: ("gloo", DistributedType.MULTI_GPU)
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    asked = common.trainer_arguments
    for module in (training, policies, grpo):
        module.trainer_arguments = lambda *args: {**asked(*args), "use_cpu": False}
    gathered = finish.merged_model

    def of_spread_ones(trainer, new_model):
        assert trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
        return gathered(trainer, new_model)

    finish.merged_model = of_spread_ones


def train_spread(settings: RewardModelTraining, **arguments) -> None:
    """Train a reward model of which each process holds a part."""
    _spread()
    training.train_reward_model(settings=settings, **arguments)


def train_dpo_spread(settings: Dpo, **arguments) -> None:
    """Train a policy by DPO, of which, as of its reference model, each process holds a part."""
    _spread()
    policies.train_dpo(settings=settings, **arguments)


def train_spread_on_written_replies(settings: Grpo, **arguments) -> None:
    """Train by GRPO a judge of which, as of its reference model, each process holds a part."""
    _spread()
    train_on_written_replies(settings=settings, **arguments)


def train_on_written_replies(settings: Grpo, **arguments) -> None:
    """Train by GRPO on replies that are the same in any number of processes; drawn ones are not."""

    def replies(self, prompt_ids, *args, **kwargs):
        asked, texts = Counter(), []
        for prompt in map(tuple, prompt_ids):
            texts.append(written([f"A local says so {len(prompt)} times."], "AB"[asked[prompt]]))
            asked[prompt] += 1
        return [
            self.processing_class(text)["input_ids"] + [self.processing_class.eos_token_id] for text in texts
        ], None

    GRPOTrainer._generate_single_turn = replies
    train_grpo(settings=settings, **arguments)


def fail_in_words(settings: RewardModelTraining, **arguments) -> None:
    """Fail as a user's error does."""
    training.train_reward_model(settings=settings, **{**arguments, "rows": []})
