"""What every training with TRL shares: adapters, the trainer's arguments, and what is kept of its log."""

from collections.abc import Callable, Iterable

import torch
from peft import LoraConfig, get_peft_model
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from polyreward.core.errors import raise_all
from polyreward.core.processes import is_main
from polyreward.models.devices import device_problems
from polyreward.settings.base import GrpoTraining, Lora, PolicyTraining, Section
from polyreward.settings.transfer import RewardModelTraining

# What TRL logs that differs from run to run, or that a resumed run counts from anew.
LEFT_OUT = {
    "step_time",
    "train_runtime",
    "train_samples_per_second",
    "train_steps_per_second",
    "train_loss",
    "total_flos",
    "num_tokens",
}
PROJECTIONS = [
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
]  # that adapters change


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
    raise_all(
        device_problems(precision, optimizer, liger),
        f"{label}: what this machine cannot do",
    )
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


def recorded(settings: Section, precision: str, liger: bool) -> dict:
    """Return the settings of a training as its record and its checkpoints hold them."""
    return {**settings.model_dump(), "precision": precision, "liger": liger}


def trained_model(trainer, new_model: Callable[[], torch.nn.Module]):
    """Return the model that a trainer has trained, whole, in the main process, and None in the others; all
    call it.

    new_model: makes the model that training started with, before adapters. Where each device holds a part of
    the weights only (FSDP, ZeRO-3), such a new one takes them."""
    if not (trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled):
        return trainer.model if is_main() else None
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if not is_main():
        return None
    unset_hf_deepspeed_config()  # else loading would spread the new one, too, and wait for the others
    model, adapters = new_model(), getattr(trainer.model, "peft_config", None)
    if adapters:
        model = get_peft_model(model, adapters["default"])
    model.load_state_dict(weights)
    return model


def logged_steps(history: Iterable[dict]) -> list[dict]:
    """Return what a trainer logged, the same for every run of the same training."""
    return [{key: value for key, value in entry.items() if key not in LEFT_OUT} for entry in history]
