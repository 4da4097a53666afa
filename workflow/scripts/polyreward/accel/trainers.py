"""TRL's trainers, sped up on a CPU; each function is called once, between making a trainer and training."""

import contextlib
from collections.abc import Callable, Iterator
from types import MethodType

import torch
from trl import DPOTrainer, GRPOTrainer, SFTTrainer
from trl.trainer import grpo_trainer

from polyreward import accel
from polyreward.accel.frozen import FrozenLayers, frozen_count
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.pair_rows import PairRows
from polyreward.accel.shared_prompts import (
    generate_from_shared_prompts,
    rest_of_rows,
    runs_from_shared_prompts,
)
from polyreward.accel.trees import can_share
from polyreward.accel.vocabulary import split_the_vocabulary
from polyreward.core.logs import announce
from polyreward.settings.transfer import RewardModelTraining

FROZEN_TOKENS = 1024  # tokens that frozen layers run at once where training runs a batch at once


def speed_up_reward_trainer(trainer, settings: RewardModelTraining, label: str) -> None:
    """Let a reward model's trainer run frozen layers once, and a request with its answers as one row.

    trainer: of TRL, on a dataset of requests (training.reward_model.tokenized_requests)."""
    if not accel.on():
        return
    multiply_by_onednn(trainer.model)
    model = trainer.model.get_base_model() if settings.lora else trainer.model
    share = settings.token_budget is not None and can_share(model.get_decoder())
    frozen = None
    count = frozen_count(model, settings.lora.top_layers) if settings.lora else 0
    if count and settings.cache_frozen_layers:
        frozen = FrozenLayers(model, count)
        groups = [request["chosen_ids"] + request["rejected_ids"] for request in trainer.train_dataset]
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=trainer.args.bf16):
            budget = settings.token_budget or FROZEN_TOKENS
            frozen.fill(groups, model.config.pad_token_id, budget, share)
        frozen.install()
        announce(f"{label}: the {count} frozen layers have run over {len(groups)} requests")
    if share:
        PairRows(model, settings.token_budget, frozen).install()


def speed_up_policy_trainer(trainer: SFTTrainer | DPOTrainer | GRPOTrainer) -> torch.nn.Module:
    """Let the model that trains multiply fewer tokens by its vocabulary; return it, without adapters."""
    adapted = getattr(trainer.model, "peft_config", None)
    model = trainer.model.get_base_model() if adapted else trainer.model
    split_the_vocabulary(model)
    return model


@contextlib.contextmanager
def references_loaded_by(load: Callable[[str], torch.nn.Module]) -> Iterator[None]:
    """Let TRL load the frozen reference of a GRPOTrainer that is made meanwhile by a function of its folder.

    TRL has no argument for it. Not a speed-up, so it is there with a CUDA device, too, and gone before
    training begins."""
    own = grpo_trainer.create_model_from_path
    grpo_trainer.create_model_from_path = lambda path, **_: load(path)
    try:
        yield
    finally:
        grpo_trainer.create_model_from_path = own


def speed_up_grpo_trainer(trainer: GRPOTrainer, processes: int) -> bool:
    """Let GRPO run a prompt once for all replies to it in a batch; returns whether it does.

    It does in one process and without gradient checkpointing, which keeps no cache. The loss is the same,
    to rounding."""
    model = speed_up_policy_trainer(trainer)
    if not accel.on():
        return False
    if processes > 1 or trainer.args.gradient_checkpointing or not runs_from_shared_prompts(model):
        return False
    generate_from_shared_prompts(model)
    trainer._get_per_token_logps_and_entropies = MethodType(_shared_logprobs, trainer)
    return True


def _shared_logprobs(
    trainer,
    model,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    logits_to_keep: int,
    batch_size: int | None = None,
    compute_entropy: bool = False,
    **others,
) -> tuple[torch.Tensor, torch.Tensor | None, None]:
    if any(value is not None and value is not False for value in others.values()):
        return type(trainer)._get_per_token_logps_and_entropies(
            trainer, model, input_ids, attention_mask, logits_to_keep, batch_size, compute_entropy, **others
        )
    shared = input_ids.shape[1] - logits_to_keep - 1  # a prompt's last token predicts a reply's first
    logprobs, entropies = [], []
    size = batch_size or len(input_ids)
    for ids, mask in zip(input_ids.split(size), attention_mask.split(size), strict=True):
        labels = ids.masked_fill(mask == 0, -100)[:, shared:]
        labels[:, 0] = -100
        with trainer.accelerator.autocast():
            found = model(**rest_of_rows(model, ids, mask, shared), labels=labels, fused_lm_head=True)
        logprobs.append(found.log_probs)
        entropies.append(found.entropy)
    return torch.cat(logprobs), torch.cat(entropies) if compute_entropy else None, None
