"""What tests launch in several processes; accelerate imports it by name in each of them."""

import atexit
import os
import signal
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import yaml
from accelerate.state import PartialState
from accelerate.utils import DistributedType
from transformers import Trainer
from trl import GRPOTrainer

from polyreward.scoring.criteria_layout import written
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training import finish, grpo, policies, reward_model
from polyreward.training.common import Job, trainer_arguments

ROOT = Path(__file__).parents[2]


def launch_config(name: str, **changes) -> dict:
    """Return one of workflow/accelerate/, for two processes."""
    config = yaml.safe_load((ROOT / f"workflow/accelerate/{name}.yaml").read_text(encoding="utf-8"))
    return {**config, "num_processes": 2, "use_cpu": True, **changes}


def in_turn(job: Job, calls: list[tuple], spread: bool) -> None:
    """Call functions, each with arguments and named ones; spread: each process holds a part of each model."""
    if spread:
        _spread()
    for function, arguments, named in calls:
        function(*arguments, **named)


def train_until_one_is_killed(*arguments, spread: bool, **named) -> None:
    """Train a reward model; the second process is killed while the checkpoint of step 4 is written."""
    save = Trainer._save_rng_state

    def save_or_die(self, output_dir):
        if self.args.process_index == 1 and self.state.global_step == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        save(self, output_dir)

    with patch.object(Trainer, "_save_rng_state", save_or_die):
        in_turn(named["job"], [(reward_model.train_reward_model, arguments, named)], spread)


def done_then_aborted(job: Job) -> None:
    """Finish the work; the second process aborts when Python ends, as threads of torch have made it do."""
    if os.environ["RANK"] == "1":
        atexit.register(os.abort)
    Path(job.out_folder).write_text("done", encoding="utf-8")


def aborted(job: Job) -> None:
    """Abort the second process as C++ does where nobody catches its exception."""
    if os.environ["RANK"] == "1":
        print("terminate called after throwing an instance of 'std::bad_alloc'", flush=True)
        os.abort()


def _spread() -> None:
    """Let accelerate believe that it has accelerators: it spreads no model over CPUs else (FSDP, ZeRO-3)."""
    PartialState._prepare_backend = lambda self, *args, **kwargs: ("gloo", DistributedType.MULTI_GPU)
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    for module in (reward_model, policies, grpo):
        module.trainer_arguments = lambda *args: {**trainer_arguments(*args), "use_cpu": False}
    gathered = finish.merged_model

    def of_spread_ones(trainer, new_model):
        assert trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
        return gathered(trainer, new_model)

    finish.merged_model = of_spread_ones


def train_on_written_replies(*arguments, **named) -> None:
    """Train by GRPO on replies that are the same in any number of processes; drawn ones are not."""

    def replies(self, prompt_ids, *args, **kwargs):
        asked, texts = Counter(), []
        for prompt in map(tuple, prompt_ids):
            texts.append(written([f"A local says so {len(prompt)} times."], "AB"[asked[prompt]]))
            asked[prompt] += 1
        end = self.processing_class.eos_token_id
        return [[*self.processing_class(text)["input_ids"], end] for text in texts], None

    with patch.object(GRPOTrainer, "_generate_single_turn", replies):
        train_grpo(*arguments, **named)
