"""Policies: causal LMs that are trained with TRL, by supervised fine-tuning (SFT) and by DPO."""

from collections.abc import Callable, Sequence
from pathlib import Path

from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trainers import speed_up_policy_trainer
from polyreward.core.conversations import as_messages, as_turns, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.core.processes import count
from polyreward.core.seals import intact
from polyreward.models.generation import ends_of
from polyreward.models.reward_model import give_pad_token
from polyreward.settings.base import PolicyTraining
from polyreward.settings.transfer import Dpo
from polyreward.training.common import Announce, Job, fitting, lora_config, trainer_arguments
from polyreward.training.finish import finish_training

# An answer ends with an end token, or a policy never learns to stop.
ENDED = "{% if messages[-1]['role'] == 'assistant' %}{{ eos_token }}{% endif %}"


def load_policy(folder: str | Path, dtype: str = "float32"):
    """Load a base or a policy: (model, tokenizer). It stops at all its ends, and conversations end with one.

    Raises PolyrewardError where the folder changed since it was made."""
    tokenizer = AutoTokenizer.from_pretrained(intact(folder))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    give_pad_token(model, tokenizer)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    ends = ends_of(model.generation_config, tokenizer)
    model.generation_config.eos_token_id = ends if len(ends) > 1 else ends[0]
    whole = tokenizer.apply_chat_template(as_messages("?", "!"), tokenize=False).rstrip()
    if not whole.endswith(tuple(tokenizer.convert_ids_to_tokens(ends))):
        if isinstance(tokenizer.chat_template, dict):  # several, by name; conversations take this one
            tokenizer.chat_template["default"] += ENDED
        else:
            tokenizer.chat_template += ENDED
    return multiply_by_onednn(model), tokenizer


def train_sft(base_folder: str | Path, rows: Sequence[dict], settings: PolicyTraining, job: Job) -> None:
    """Fine-tune a base on the chosen answers of preference rows, so that it answers at all."""
    examples = [{"prompt": as_turns(row["prompt"]), "completion": _answer(row["chosen"])} for row in rows]

    def trainer_of(arguments: dict, **given) -> SFTTrainer:
        return SFTTrainer(args=SFTConfig(**arguments, completion_only_loss=True), **given)

    _train(trainer_of, examples, settings, base_folder, job)


def train_dpo(policy_folder: str | Path, pairs: Sequence[dict], settings: Dpo, job: Job) -> None:
    """Train a policy by DPO on labelled pairs (prompt, chosen, rejected); its reference is its start.

    Raises PolyrewardError where there are fewer pairs than one update takes."""
    update = settings.batch_size * settings.gradient_accumulation * count()
    if len(pairs) < update:
        raise PolyrewardError(
            f"{job.label}: {len(pairs)} preference pairs, fewer than the {update} of one update; raise"
            " alignment.prompts or alignment.responses, or lower alignment.dpo.batch_size"
        )
    examples = [
        {"prompt": as_turns(pair["prompt"])} | {role: _answer(pair[role]) for role in ("chosen", "rejected")}
        for pair in pairs
    ]
    # What TRL computes in advance it keeps in a file that other processes do not find.
    one_process = count() == 1

    def trainer_of(arguments: dict, **given) -> DPOTrainer:
        # Loaded before there is a configuration, by which it would be spread.
        reference = None if one_process or settings.lora else load_policy(policy_folder)[0]
        config = DPOConfig(
            **arguments,
            optim=settings.optimizer,
            beta=settings.beta,
            precompute_ref_log_probs=one_process,
            precompute_ref_batch_size=settings.batch_size,
        )
        return DPOTrainer(ref_model=reference, args=config, **given)

    _train(trainer_of, examples, settings, policy_folder, job)


def _answer(text: str) -> list[dict]:
    return [{"role": "assistant", "content": text}]


def _train(
    trainer_of: Callable[..., SFTTrainer | DPOTrainer],
    examples: list[dict],
    settings: PolicyTraining,
    start_folder: str | Path,
    job: Job,
) -> None:
    """Train on examples: `prompt` and one or more answers, all as messages.

    trainer_of: makes the trainer from its arguments, a dictionary, and what else every trainer gets."""
    in_record = job.recorded(settings)
    model, tokenizer = load_policy(start_folder)

    def length(example: dict) -> int:
        answers = [turns for role, turns in example.items() if role != "prompt"]
        return max(len(rendered(tokenizer, example["prompt"] + turns)) for turns in answers)

    # TRL would cut the end of an answer off, and teach not to end.
    kept = fitting(examples, length, settings.max_length, job.label)
    if not kept:
        raise PolyrewardError(
            f"{job.label}: no example of {len(examples)} is left to train on; raise max_length"
        )
    dataset = Dataset.from_list(kept)
    trainer = trainer_of(
        {
            **trainer_arguments(settings, in_record, start_folder, dataset, job),
            "num_train_epochs": settings.epochs,
            "max_length": settings.max_length,
        },
        model=model,
        train_dataset=dataset,
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora, model, "CAUSAL_LM"),
        callbacks=[Announce(job.label, "loss")],
    )
    kept_by_trl = len(trainer.train_dataset)

    def record(history: Sequence[dict]) -> dict:
        losses = [float(entry["loss"]) for entry in history if "loss" in entry]
        counts = {"examples": kept_by_trl, "left_out": len(examples) - kept_by_trl}
        return {"settings": in_record, "seed": job.seed, **counts, "losses": losses}

    speed_up_policy_trainer(trainer)
    finish_training(trainer, tokenizer, lambda: load_policy(start_folder)[0], record, job)
