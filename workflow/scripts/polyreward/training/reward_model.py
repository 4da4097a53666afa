"""Training a Bradley-Terry reward model with TRL, resumable, as a plain Hugging Face folder."""

import logging
from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from transformers import TrainerCallback
from trl import RewardConfig, RewardTrainer
from trl.trainer.reward_trainer import DataCollatorForPreference

from polyreward.accel.trainers import speed_up_reward_trainer
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.core.memory import release_freed_memory
from polyreward.models.reward_model import new_reward_model
from polyreward.settings.transfer import RewardModelTraining
from polyreward.training.common import (
    Announce,
    Job,
    logged_steps,
    lora_config,
    trainer_arguments,
)
from polyreward.training.finish import finish_training

logger = logging.getLogger(__name__)


def tokenized_requests(rows: Sequence[dict], tokenizer, max_length: int) -> tuple[Dataset, dict[str, int]]:
    """Tokenise preference rows for TRL, truncating on the left first, since TRL drops what is too long.

    Returns a dataset of requests, whose chosen_ids and rejected_ids are lists of sequences, one of each pair.
    And counts: requests, pairs, truncated (either side), dropped (the same after truncation). A row without
    a `request` is a request by itself."""
    requests: dict[str | int, dict[str, list]] = {}
    counts = {"pairs": 0, "truncated": 0, "dropped": 0}
    for number, row in enumerate(rows):
        chosen, chosen_cut = conversation_ids(tokenizer, row["prompt"], row["chosen"], max_length)
        rejected, rejected_cut = conversation_ids(tokenizer, row["prompt"], row["rejected"], max_length)
        counts["truncated"] += chosen_cut or rejected_cut
        if chosen == rejected:
            counts["dropped"] += 1
            continue
        pairs = requests.setdefault(row.get("request", number), {"chosen_ids": [], "rejected_ids": []})
        pairs["chosen_ids"].append(chosen)
        pairs["rejected_ids"].append(rejected)
        counts["pairs"] += 1
    return Dataset.from_list(list(requests.values())), {"requests": len(requests), **counts}


class PairsOfRequests(DataCollatorForPreference):
    """TRL's collator, of requests with any number of pairs: a batch holds all pairs of its requests."""

    def torch_call(self, examples):
        """Return TRL's batch of the pairs."""
        pairs = [
            {"chosen_ids": chosen, "rejected_ids": rejected}
            for request in examples
            for chosen, rejected in zip(request["chosen_ids"], request["rejected_ids"], strict=True)
        ]
        return super().torch_call(pairs)


def train_reward_model(
    base_folder: str | Path, rows: Sequence[dict], settings: RewardModelTraining, job: Job
) -> None:
    """Train a Bradley-Terry reward model of a base on preference rows.

    Raises PolyrewardError where no pair is left to train on."""
    record = job.recorded(settings)
    model, tokenizer = new_reward_model(base_folder, job.seed, settings.pooling)
    dataset, counts = tokenized_requests(rows, tokenizer, settings.max_length)
    logger.info("%s: %s", job.label, counts)
    if not len(dataset):
        raise PolyrewardError(
            f"{job.label}: no preference pair is left to train on; look at the training rows and max_length"
        )
    config = RewardConfig(
        **trainer_arguments(settings, record, base_folder, dataset, job),
        num_train_epochs=settings.epochs,
        max_length=settings.max_length,
        center_rewards_coefficient=settings.center_rewards_coefficient,
        optim=settings.optimizer,
    )
    # The Bradley-Terry loss is TRL's: RewardTrainer.compute_loss.
    trainer = RewardTrainer(
        model=model,
        args=config,
        train_dataset=dataset,
        data_collator=PairsOfRequests(tokenizer.pad_token_id),
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora, model, "SEQ_CLS", trained_whole=["score"]),
        callbacks=[Announce(job.label, "loss", "accuracy"), _ReleaseMemory()],
    )
    speed_up_reward_trainer(trainer, settings, job.label)
    dropped = len(dataset) - len(trainer.train_dataset)

    def training_record(history: Sequence[dict]) -> dict:
        counted = {**counts, "dropped_by_trl": dropped}
        return {"settings": record, "seed": job.seed, "counts": counted, "steps": logged_steps(history)}

    def new_model():
        return new_reward_model(base_folder, job.seed, settings.pooling)[0]

    finish_training(trainer, tokenizer, new_model, training_record, job)


class _ReleaseMemory(TrainerCallback):
    """Keep the job's size near what it uses, at little cost: pages given back have to be fetched again."""

    def on_step_end(self, args, state, control, **kwargs):
        """Give freed memory back after every fourth step."""
        if state.global_step % 4 == 0:
            release_freed_memory()
