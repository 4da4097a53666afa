"""What every training with TRL shares: what its job gives it, adapters, the trainer's arguments, its log."""

import hashlib
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback, TrainingArguments

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import announce
from polyreward.core.processes import arrangement
from polyreward.core.seals import folder_sums
from polyreward.models.devices import device_problems
from polyreward.settings.base import GrpoTraining, Lora, PolicyTraining, Section
from polyreward.settings.transfer import RewardModelTraining

# What TRL logs that differs from run to run, or that a resumed run counts again.
LEFT_OUT = {
    *("step_time", "train_runtime", "train_samples_per_second", "train_steps_per_second"),
    *("train_loss", "total_flos", "num_tokens"),
}
ROWS_AT_ONCE = 256  # of a dataset, whose content is hashed
# An argument that transformers 5 has given a new name, and whose old one 6 will drop
NEW = "activation_checkpointing"
CHECKPOINTING = NEW if NEW in {one.name for one in fields(TrainingArguments)} else "gradient_checkpointing"
PROJECTIONS = [f"{name}_proj" for name in ("q", "k", "v", "o", "gate", "up", "down")]  # that adapters change


@dataclass(frozen=True)
class Job:
    """What a training is given next to its data and settings. All processes that train together have it.

    checkpoints: a folder that outlives a killed run; an equal run resumes from its last checkpoint, and
    removes the folder when done. label: names the training in messages. precision: float32, or bfloat16
    by autocast. liger: use the kernels of liger-kernel."""

    seed: int
    checkpoints: str | Path
    out_folder: str | Path
    label: str
    precision: str = "float32"
    liger: bool = False

    def recorded(self, settings: Section) -> dict:
        """Return the settings as the training's record and its checkpoints hold them."""
        return {**settings.model_dump(), "precision": self.precision, "liger": self.liger}


def lora_config(
    lora: Lora | None, model, task_type: str, trained_whole: list[str] | None = None
) -> LoraConfig | None:
    """Return adapters on a model's top layers as peft wants them; None for full fine-tuning.

    trained_whole: modules that are trained without adapters."""
    if lora is None:
        return None
    layers = model.config.num_hidden_layers
    return LoraConfig(
        task_type=task_type,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=0.0,
        target_modules=PROJECTIONS,
        layers_to_transform=list(range(max(0, layers - lora.top_layers), layers)),
        modules_to_save=trained_whole,
    )


def trainer_arguments(
    settings: RewardModelTraining | PolicyTraining | GrpoTraining,
    record: dict,
    start_folder: str | Path,
    dataset: Dataset,
    job: Job,
) -> dict:
    """Return the arguments that every trainer gets.

    record: as from Job.recorded, and what else decides the result. Raises PolyrewardError where this
    machine's card does not compute in the precision."""
    precision = record["precision"]
    # TRL and PEFT still ask by names that transformers will drop
    warnings.filterwarnings("ignore", r"`(is_)?gradient_checkpointing\w*` is deprecated", FutureWarning)
    os.environ["ACCELERATE_MIXED_PRECISION"] = "no"  # TRL would train in what it names where ours is float32
    raise_all(device_problems(precision), f"{job.label}: what this machine cannot do")
    # Named by all that the run depends on, so that no other run takes its checkpoints up.
    parts = [folder_sums(start_folder), record, job.seed, arrangement()]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for rows in dataset.iter(ROWS_AT_ONCE):  # all at once are gigabytes, in each process
        digest.update(json.dumps(rows, sort_keys=True).encode())
    folder = Path(job.checkpoints) / digest.hexdigest()[:16]
    return {
        "output_dir": str(folder),
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "learning_rate": settings.learning_rate,
        "warmup_steps": settings.warmup_ratio,
        "lr_scheduler_type": settings.lr_scheduler,
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.gradient_accumulation,
        "bf16": precision == "bfloat16",
        CHECKPOINTING: settings.gradient_checkpointing,
        "use_liger_kernel": job.liger,
        "use_cpu": not torch.cuda.is_available(),
        "seed": job.seed % 2**31,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # Announce ends at the first
        "report_to": "none",
        "disable_tqdm": True,
    }


class KeepClasses(TrainerCallback):
    """Leave the kernels of liger-kernel to the model that trains.

    They also replace classes and functions of transformers' modules, which the next model of the process
    would be made of, such as GRPO's reward models and judges. This is made before training, and puts them
    back when it begins."""

    def __init__(self):
        self.before = {
            name: dict(vars(module))
            for name, module in list(sys.modules.items())
            if name.startswith("transformers.models.") and ".modeling_" in name
        }

    def on_train_begin(self, args, state, control, **kwargs):
        """Put back what the modules held before."""
        for name, held in self.before.items():
            vars(sys.modules[name]).update(held)


class Announce(TrainerCallback):
    """Print how far training is, about ten times a run, and end it where a number is not finite.

    shown: names in a step's log; a step without the first is not printed."""

    def __init__(self, label: str, *shown: str):
        self.label, self.shown, self.next_step = label, shown, 0

    def on_log(self, args, state, control, logs=None, **kwargs):
        """Print the step. Raises PolyrewardError at the first loss or gradient that is not finite.

        Without it a training of NaN ends as if all was well, and its model fails when it scores."""
        logs = logs or {}
        for key, what in {"loss": "loss", "grad_norm": "gradient"}.items():
            if not math.isfinite(float(logs.get(key, 0))):
                raise PolyrewardError(
                    f"{self.label}: the {what} of step {state.global_step} is not finite; nothing is saved."
                    " Lower learning_rate, or look for rows of extreme length or content"
                )
        due = state.global_step >= self.next_step or state.global_step == state.max_steps
        if due and self.shown[0] in logs:
            self.next_step = state.global_step + max(1, state.max_steps // 10)
            words = [f"{name} {float(logs[name]):.3f}" for name in self.shown if name in logs]
            announce(f"{self.label}: step {state.global_step}/{state.max_steps}, {', '.join(words)}")


def fitting(
    examples: Sequence[dict], length: Callable[[dict], int], max_length: int, label: str, together: int = 1
) -> list[dict]:
    """Return the examples of at most max_length tokens, and announce how many they are.

    length: counts an example's tokens. together: so many neighbours are kept or left out as one."""
    groups = [examples[start : start + together] for start in range(0, len(examples), together)]
    kept = [example for group in groups if max(map(length, group)) <= max_length for example in group]
    left_out = len(examples) - len(kept)
    announce(f"{label}: {len(kept)} examples, {left_out} left out as longer than {max_length} tokens")
    return kept


def logged_steps(history: Iterable[dict]) -> list[dict]:
    """Return what a trainer logged, the same for every run of the same training."""
    return [{key: value for key, value in entry.items() if key not in LEFT_OUT} for entry in history]
