"""How every training ends: trained, merged, sealed, recorded, and its checkpoints removed."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from peft import get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from polyreward.core.errors import PolyrewardError
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
        new_model: makes the model that training starts with, in fp32 and without adapters.
        record: what training.json holds, from what the trainer logged.
        checkpoints: the folder of all this job's checkpoints.
    """
    stop_on_non_finite(trainer, label)
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


def stop_on_non_finite(trainer, label: str) -> None:
    """Let a training end with PolyrewardError at its first loss or gradient that is not finite.

    Without it a training of NaN ends as if all was well, and its model fails when it scores.
    """
    plain = trainer.training_step

    def checked(model, inputs, *rest):
        loss = plain(model, inputs, *rest)
        gradients = [p.grad.norm() for p in model.parameters() if p.grad is not None]
        values = torch.stack([loss.detach().float(), *(value.float().to(loss.device) for value in gradients)])
        if not torch.isfinite(values).all():
            what = "loss" if not torch.isfinite(values[0]) else "gradient"
            raise PolyrewardError(
                f"{label}: the {what} of step {trainer.state.global_step + 1} is not finite; nothing is"
                " saved. Lower learning_rate, or look at the rows of this batch:"
                f" {_begins(inputs, trainer.processing_class)}"
            )
        return loss

    trainer.training_step = checked


def _begins(inputs, tokenizer) -> str:
    """Return how the texts of a batch begin, where it holds token ids."""
    batch = inputs[0] if isinstance(inputs, list) and inputs else inputs
    values = batch if isinstance(batch, Mapping) else {}
    ids = next((value for name, value in values.items() if name.endswith("input_ids")), None)
    if not isinstance(ids, torch.Tensor):
        return "not known"
    texts = tokenizer.batch_decode(ids[:4], skip_special_tokens=True)
    return "; ".join(f"`{text.strip()[:60]}`" for text in texts)


def merged_model(trainer, new_model: Callable[[], torch.nn.Module]) -> torch.nn.Module | None:
    """Return the trained model, whole, with its adapters merged; None in all processes but the main one.

    A new model takes the trained weights where each device holds a part of them (FSDP, ZeRO-3). So it does
    where adapters were trained on weights in bfloat16, which would round much of them away.
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
