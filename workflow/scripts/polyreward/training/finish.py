"""How every training ends: trained, merged, sealed, recorded, and its checkpoints removed."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from peft import get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from polyreward.core.files import save_tokenizer, write_text
from polyreward.core.memory import release_freed_memory
from polyreward.core.processes import is_main
from polyreward.core.seals import sealed_folder
from polyreward.training.checkpoints import train_on


def finish_training(
    trainer,
    tokenizer,
    new_model: Callable[[], torch.nn.Module],
    record: Callable[[Sequence[dict]], dict],
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
) -> None:
    """Train to the end and save the model whole, with training.json next to it.

    All processes that train together call it; the main one saves.

    Args:
        trainer: of TRL.
        tokenizer: saved with the model.
        new_model: makes the model that training starts with, in fp32 and without adapters.
        record: what training.json holds, from what the trainer logged.
        checkpoints: the folder of all this job's checkpoints.
        out_folder: the model's.
        label: the training's name in messages.
    """
    train_on(trainer, label)
    release_freed_memory()
    model = merged_model(trainer, new_model)
    if model is None:
        return
    model.config.use_cache = True
    text = json.dumps(record(trainer.state.log_history), indent=1, sort_keys=True)
    with sealed_folder(out_folder) as temporary:
        model.save_pretrained(temporary)
        save_tokenizer(tokenizer, temporary)
        write_text(text + "\n", temporary / "training.json")
    shutil.rmtree(checkpoints, ignore_errors=True)


def merged_model(trainer, new_model: Callable[[], torch.nn.Module]) -> torch.nn.Module | None:
    """Return the trained model, whole, with its adapters merged; None in all processes but the main one.

    A new model takes what was trained where each device holds a part of the weights (FSDP, ZeRO-3), and where
    adapters were trained on weights in bfloat16, in which much of them would be rounded away.
    """
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
