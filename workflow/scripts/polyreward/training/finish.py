"""How every training runs and ends: resumed, trained, merged, sealed, recorded, its checkpoints removed."""

import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from peft import get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from polyreward.core.files import save_tokenizer, write_text
from polyreward.core.logs import announce
from polyreward.core.memory import release_freed_memory
from polyreward.core.processes import count, is_main
from polyreward.core.seals import sealed_folder
from polyreward.models.reward_model import give_own_type
from polyreward.training.common import Job, KeepClasses


def finish_training(
    trainer,
    tokenizer,
    new_model: Callable[[], torch.nn.Module],
    record: Callable[[Sequence[dict]], dict],
    job: Job,
) -> None:
    """Train to the end and save the model whole, with training.json next to it; the main process saves.

    new_model: makes the model that training starts with, in fp32 and without adapters. record: returns what
    training.json holds, from what the trainer logged."""
    train_on(trainer, job.label)
    release_freed_memory()
    model = merged_model(trainer, new_model)
    if model is None:
        return
    model.config.use_cache = True
    text = json.dumps(record(trainer.state.log_history), indent=1, sort_keys=True)
    with sealed_folder(job.out_folder) as temporary:
        model.save_pretrained(temporary)
        give_own_type(temporary)
        save_tokenizer(tokenizer, temporary)
        write_text(text + "\n", temporary / "training.json")
    shutil.rmtree(job.checkpoints, ignore_errors=True)


def train_on(trainer, label: str) -> None:
    """Train to the end, from the last whole checkpoint in the trainer's folder where there is one."""
    checkpoint = last_whole_checkpoint(trainer.args.output_dir, count())
    if checkpoint:
        announce(f"{label}: resumes from {checkpoint.name}")
    if trainer.args.use_liger_kernel:
        trainer.add_callback(KeepClasses())
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def last_whole_checkpoint(folder: str | Path, processes: int = 1) -> Path | None:
    """Return the newest checkpoint that every one of the processes wrote to its end, or None.

    A cut one lacks what a process writes last. For the main process that is trainer_state.json. For another
    it is its state of random numbers, an archive whose end is its table of contents."""
    states = [f"rng_state_{number}.pth" for number in range(processes)] if processes > 1 else []
    found = [
        path.parent
        for path in Path(folder).glob("checkpoint-*/trainer_state.json")
        if _parses(path) and all(zipfile.is_zipfile(path.parent / name) for name in states)
    ]
    return max(found, key=lambda path: int(path.name.split("-")[1]), default=None)


def _parses(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")))
    except ValueError:
        return False


def merged_model(trainer, new_model: Callable[[], torch.nn.Module]) -> torch.nn.Module | None:
    """Return the trained model, whole, with its adapters merged; None in all processes but the main one.

    A new model takes the trained weights where each device holds a part of them (FSDP, ZeRO-3), and where
    adapters were trained on weights in bfloat16, which would round much of them away."""
    spread = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped) if spread else None
    if not is_main():
        return None
    model, adapters = trainer.model, getattr(trainer.model, "peft_config", None)
    if spread:
        unset_hf_deepspeed_config()  # else loading would spread the new one, too, and wait for the others
    if not adapters:
        if spread:
            model = new_model()
            model.load_state_dict(weights)
        return model
    if spread or model.dtype != torch.float32:
        model = get_peft_model(new_model(), adapters["default"])
        trained = get_peft_model_state_dict(trainer.model, weights, save_embedding_layers=False)
        set_peft_model_state_dict(model, trained)
    return model.merge_and_unload()
