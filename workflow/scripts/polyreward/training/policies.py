"""Policies: causal LMs that are trained with TRL, by supervised fine-tuning (SFT) and by DPO, and saved as
plain folders."""

from collections.abc import Sequence
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trainers import speed_up_policy_trainer
from polyreward.core.conversations import Messages, as_messages, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.processes import count
from polyreward.core.seals import intact
from polyreward.models.precision import dtype_of
from polyreward.models.reward_model import PAD_TOKEN
from polyreward.settings.base import PolicyTraining
from polyreward.settings.transfer import Dpo
from polyreward.training.checkpoints import checkpoint_arguments
from polyreward.training.common import (
    Announce,
    fitting,
    lora_config,
    loss_in_words,
    recorded,
    trainer_arguments,
)
from polyreward.training.finish import finish_training

# An answer ends with the end token, or a policy never learns to stop.
ENDED = "{% if messages[-1]['role'] == 'assistant' %}{{ eos_token }}{% endif %}"


def load_policy(folder: str | Path, dtype: torch.dtype = torch.float32):
    """Load a base or a policy to train or to sample from: (model, tokenizer). Its conversations end with the
    end token.

    Raises PolyrewardError where the folder changed since it was made."""
    tokenizer = AutoTokenizer.from_pretrained(intact(folder))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id == tokenizer.eos_token_id:
        tokenizer.add_special_tokens({"pad_token": PAD_TOKEN})
        known = model.config.vocab_size
        model.resize_token_embeddings(max(len(tokenizer), known), mean_resizing=False)
        with torch.no_grad():  # a new row is drawn at random, and its logit is in every softmax
            for embedding in (model.get_input_embeddings(), model.get_output_embeddings()):
                embedding.weight[known:] = 0.0
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    whole = tokenizer.apply_chat_template(as_messages("?", "!"), tokenize=False).rstrip()
    if not whole.endswith(tokenizer.eos_token):
        tokenizer.chat_template += ENDED
    return multiply_by_onednn(model), tokenizer


def train_sft(
    base_folder: str | Path,
    rows: Sequence[dict],
    settings: PolicyTraining,
    seed: int,
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
    precision: str = "float32",
    liger: bool = False,
) -> None:
    """Fine-tune a base on the chosen answers of preference rows, so that it answers at all.

    checkpoints: a folder that outlives a killed run; an equal run resumes from its last one and removes it
    when done. precision, liger: as in trainer_arguments."""
    precision = dtype_of(precision)
    record = recorded(settings, precision, liger)
    model, tokenizer = load_policy(base_folder)
    examples = [{"prompt": _turns(row["prompt"]), "completion": _answer(row["chosen"])} for row in rows]
    kept = _kept(tokenizer, examples, ["completion"], settings.max_length, label)
    dataset = Dataset.from_list(kept)
    saved = checkpoint_arguments(checkpoints, base_folder, record, seed, dataset)
    shared = trainer_arguments(settings, seed, label, precision, liger)
    config = SFTConfig(**saved, **_common(settings, shared), completion_only_loss=True)
    trainer = SFTTrainer(
        model=model,
        args=config,
        train_dataset=dataset,
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora, model, "CAUSAL_LM"),
    )
    _finish(trainer, tokenizer, record, seed, len(examples), base_folder, checkpoints, out_folder, label)


def train_dpo(
    policy_folder: str | Path,
    pairs: Sequence[dict],
    settings: Dpo,
    seed: int,
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
    precision: str = "float32",
    liger: bool = False,
) -> None:
    """Train a policy by DPO on labelled pairs (prompt, chosen, rejected), with the policy itself as reference
    model.

    checkpoints, precision, liger: as in train_sft. Raises PolyrewardError where there are fewer pairs than
    one update takes."""
    precision = dtype_of(precision)
    record = recorded(settings, precision, liger)
    update = settings.batch_size * settings.gradient_accumulation * count()
    if len(pairs) < update:
        raise PolyrewardError(
            f"{label}: {len(pairs)} preference pairs, fewer than the {update} of one update; raise"
            " alignment.prompts or alignment.responses, or lower alignment.dpo.batch_size"
        )
    model, tokenizer = load_policy(policy_folder)
    examples = [
        {
            "prompt": _turns(pair["prompt"]),
            "chosen": _answer(pair["chosen"]),
            "rejected": _answer(pair["rejected"]),
        }
        for pair in pairs
    ]
    kept = _kept(tokenizer, examples, ["chosen", "rejected"], settings.max_length, label)
    one_process = (
        count() == 1
    )  # what TRL computes in advance it keeps in a file that other processes do not find
    reference = None if one_process or settings.lora else load_policy(policy_folder)[0]
    dataset = Dataset.from_list(kept)
    saved = checkpoint_arguments(checkpoints, policy_folder, record, seed, dataset)
    config = DPOConfig(
        **saved,
        **_common(settings, trainer_arguments(settings, seed, label, precision, liger)),
        optim=settings.optimizer,
        beta=settings.beta,
        precompute_ref_log_probs=one_process,
        precompute_ref_batch_size=settings.batch_size,
    )
    trainer = DPOTrainer(
        model=model,
        ref_model=reference,
        args=config,
        train_dataset=dataset,
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora, model, "CAUSAL_LM"),
    )
    _finish(trainer, tokenizer, record, seed, len(examples), policy_folder, checkpoints, out_folder, label)


def _turns(prompt: str | Messages) -> list[dict]:
    return as_messages(prompt, "")[:-1]


def _answer(text: str) -> list[dict]:
    return [{"role": "assistant", "content": text}]


def _kept(tokenizer, examples: list[dict], roles: Sequence[str], max_length: int, label: str) -> list[dict]:
    """Return the examples that max_length holds whole: TRL would cut the end of an answer off, and teach not
    to end."""

    def length(example: dict) -> int:
        return max(len(rendered(tokenizer, example["prompt"] + example[role])) for role in roles)

    kept = fitting(examples, length, max_length)
    announce(
        f"{label}: {len(kept)} examples, {len(examples) - len(kept)} left out as longer than {max_length}"
        " tokens"
    )
    if not kept:
        raise PolyrewardError(f"{label}: no example of {len(examples)} is left to train on; raise max_length")
    return kept


def _common(settings: PolicyTraining, shared: dict) -> dict:
    return {"num_train_epochs": settings.epochs, "max_length": settings.max_length, **shared}


def _finish(
    trainer, tokenizer, settings: dict, seed: int, examples: int, start_folder, checkpoints, out_folder, label
) -> None:
    kept = len(trainer.train_dataset)

    def record(history: Sequence[dict]) -> dict:
        losses = [float(entry["loss"]) for entry in history if "loss" in entry]
        counts = {"examples": kept, "left_out": examples - kept}
        return {"settings": settings, "seed": seed, **counts, "losses": losses}

    def new_model():
        return load_policy(start_folder)[0]

    speed_up_policy_trainer(trainer)
    trainer.add_callback(Announce(label, loss_in_words))
    finish_training(trainer, tokenizer, new_model, record, checkpoints, out_folder, label)
