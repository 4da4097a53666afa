"""What every training with TRL shares: adapters, the trainer's arguments, and what is kept of its log."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from peft import LoraConfig
from transformers import TrainerCallback

from polyreward.core.errors import raise_all
from polyreward.core.logs import announce
from polyreward.models.devices import device_problems
from polyreward.settings.base import GrpoTraining, Lora, PolicyTraining, Section
from polyreward.settings.transfer import RewardModelTraining

# What TRL logs that differs from run to run, or that a resumed run counts again.
LEFT_OUT = {
    *("step_time", "train_runtime", "train_samples_per_second", "train_steps_per_second"),
    *("train_loss", "total_flos", "num_tokens"),
}
PROJECTIONS = [f"{name}_proj" for name in ("q", "k", "v", "o", "gate", "up", "down")]  # that adapters change


def lora_config(
    lora: Lora | None, model, task_type: str, trained_whole: list[str] | None = None
) -> LoraConfig | None:
    """Return adapters on a model's top layers as peft wants them; None for full fine-tuning.

    task_type: peft's name. trained_whole: modules that are trained without adapters."""
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
    seed: int,
    label: str,
    precision: str = "float32",
    liger: bool = False,
) -> dict:
    """Return the arguments that every trainer gets.

    label: of the training. precision: float32 or bfloat16, which is by autocast. liger: use the kernels of
    liger-kernel. Raises PolyrewardError with all that this machine's device or its packages cannot
    do."""
    optimizer = getattr(settings, "optimizer", "")
    raise_all(device_problems(precision, optimizer, liger), f"{label}: what this machine cannot do")
    return {
        "learning_rate": settings.learning_rate,
        "warmup_steps": settings.warmup_ratio,
        "lr_scheduler_type": settings.lr_scheduler,
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.gradient_accumulation,
        "bf16": precision == "bfloat16",
        "gradient_checkpointing": settings.gradient_checkpointing,
        "use_liger_kernel": liger,
        "use_cpu": not torch.cuda.is_available(),
        "seed": seed % 2**31,
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
    }


def recorded(settings: Section, precision: str, liger: bool = False) -> dict:
    """Return the settings of a training as its record and its checkpoints hold them."""
    return {**settings.model_dump(), "precision": precision, "liger": liger}


class Announce(TrainerCallback):
    """Print how far training is, about ten times a run."""

    def __init__(self, label: str, describe: Callable[[Mapping[str, float]], str]):
        """Take the training's name, and what turns a step's log into words; "" for nothing to print."""
        self.label, self.describe, self.next_step = label, describe, 0

    def on_log(self, args, state, control, logs=None, **kwargs):
        """Print the step and its words."""
        words = self.describe(logs or {})
        if words and (state.global_step >= self.next_step or state.global_step == state.max_steps):
            self.next_step = state.global_step + max(1, state.max_steps // 10)
            announce(f"{self.label}: step {state.global_step}/{state.max_steps}, {words}")


def loss_in_words(logs: Mapping[str, float]) -> str:
    """Return a step's loss, and its accuracy on the batch where there is one."""
    if "loss" not in logs:
        return ""
    accuracy = f", batch accuracy {float(logs['accuracy']):.2f}" if "accuracy" in logs else ""
    return f"loss {float(logs['loss']):.3f}{accuracy}"


def fitting(
    examples: Sequence[dict], length: Callable[[dict], int], max_length: int, together: int = 1
) -> list[dict]:
    """Return the examples of at most max_length tokens.

    Args:
        length: an example's tokens.
        together: so many neighbours are kept or left out as one.
    """
    groups = [examples[start : start + together] for start in range(0, len(examples), together)]
    return [example for group in groups if max(map(length, group)) <= max_length for example in group]


def logged_steps(history: Iterable[dict]) -> list[dict]:
    """Return what a trainer logged, the same for every run of the same training."""
    return [{key: value for key, value in entry.items() if key not in LEFT_OUT} for entry in history]
