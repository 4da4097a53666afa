"""Training a Bradley-Terry reward model with TRL, resumable, as a plain Hugging Face folder."""

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean

from datasets import Dataset
from transformers import TrainerCallback
from trl import RewardConfig, RewardTrainer

from polyreward.accel.trainers import speed_up_reward_trainer
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import announce, warn
from polyreward.core.memory import release_freed_memory
from polyreward.models.reward_model import reward_model_to_train
from polyreward.prepare.pool import margin_problems
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
PROBLEMS = 10  # of rows that are listed
GUESSING = math.log(2)  # the Bradley-Terry loss of equal rewards
ENOUGH_STEPS = 30  # in fewer, a reward model may not have learnt yet


def tokenized_requests(
    rows: Sequence[dict], tokenizer, max_length: int, header: Sequence[int] = ()
) -> tuple[Dataset, dict[str, int]]:
    """Tokenise preference rows for TRL, truncating on the left first, since TRL drops what is too long.

    Returns a dataset of requests, whose chosen_ids and rejected_ids are lists of sequences, one of each pair.
    Where any row has a `margin`, by which TRL's loss wants chosen to lead, so has each pair: 0 without one.
    And counts: requests, pairs, truncated (either side), dropped (the same after truncation). A row without
    a `request` is a request by itself. header: the token ids after which the reward reads the answer. A pair
    with an answer that holds it is left out and counted as `another_header`, since the reward would read
    what follows there. Raises PolyrewardError where a margin is no number, or a row has
    another number, which no loss would read."""
    raise_all(chain.from_iterable(map(_number_problems, rows)), "preference rows to train on", PROBLEMS)
    with_margins = any(row.get("margin") is not None for row in rows)
    requests: dict[str | int, dict[str, list]] = {}
    counts = {"pairs": 0, "truncated": 0, "dropped": 0}
    mark = tokenizer.decode(header).strip() if header else ""
    if mark:
        counts["another_header"] = 0
    for number, row in enumerate(rows):
        if mark and (mark in row["chosen"] or mark in row["rejected"]):
            counts["another_header"] += 1
            continue
        chosen, chosen_cut = conversation_ids(tokenizer, row["prompt"], row["chosen"], max_length)
        rejected, rejected_cut = conversation_ids(tokenizer, row["prompt"], row["rejected"], max_length)
        counts["truncated"] += chosen_cut or rejected_cut
        if chosen == rejected:
            counts["dropped"] += 1
            continue
        pair: dict[str, list | float] = {"chosen_ids": chosen, "rejected_ids": rejected}
        if with_margins:
            pair["margin"] = float(row.get("margin") or 0)
        request = requests.setdefault(row.get("request", number), {name: [] for name in pair})
        for name, value in pair.items():
            request[name].append(value)
        counts["pairs"] += 1
    return Dataset.from_list(list(requests.values())), {"requests": len(requests), **counts}


def _number_problems(row: dict) -> Iterator[str]:
    where = f"row {row.get('id')}"
    for problem in margin_problems(row):
        yield f"{where}: {problem}"
    for name, value in row.items():
        if name != "margin" and isinstance(value, int | float) and not isinstance(value, bool):
            yield (
                f"{where}: the loss does not read the number `{name}`; leave it out, or call it `margin` if"
                " chosen is to lead by so much"
            )


def pairs_of_requests(collate: Callable[[list[dict]], dict], requests: Sequence[dict]) -> dict:
    """Return TRL's batch, as its own collator makes it, of all pairs of some requests."""
    return collate(
        [
            dict(zip(request, values, strict=True))
            for request in requests
            for values in zip(*request.values(), strict=True)
        ]
    )


def train_reward_model(
    start_folder: str | Path, rows: Sequence[dict], settings: RewardModelTraining, job: Job
) -> None:
    """Train a Bradley-Terry reward model on preference rows, from a base or from a reward model.

    Raises PolyrewardError where no pair is left to train on, or a row has a number that no loss reads."""
    record = job.recorded(settings)
    model, tokenizer = reward_model_to_train(start_folder, job.seed, settings.pooling)
    header = getattr(model.config, "answer_header", ())
    dataset, counts = tokenized_requests(rows, tokenizer, settings.max_length, header)
    logger.info("%s: %s", job.label, counts)
    if counts.get("another_header"):
        announce(
            f"{job.label}: left out {counts['another_header']} pairs with an answer that holds the chat"
            " template's header of an answer"
        )
    if not len(dataset):
        raise PolyrewardError(
            f"{job.label}: no preference pair is left to train on; look at the training rows and max_length"
        )
    config = RewardConfig(
        **trainer_arguments(settings, record, start_folder, dataset, job),
        num_train_epochs=settings.epochs,
        max_length=None,  # of a request TRL would count the pairs
        center_rewards_coefficient=settings.center_rewards_coefficient,
        optim=settings.optimizer,
    )
    # The Bradley-Terry loss is TRL's: RewardTrainer.compute_loss.
    trainer = RewardTrainer(
        model=model,
        args=config,
        train_dataset=dataset,
        processing_class=tokenizer,
        peft_config=lora_config(settings.lora, model, "SEQ_CLS", trained_whole=["score"]),
        callbacks=[Announce(job.label, "loss", "accuracy"), _ReleaseMemory()],
    )
    trainer.data_collator = partial(pairs_of_requests, trainer.data_collator)
    speed_up_reward_trainer(trainer, settings, job.label)

    def training_record(history: Sequence[dict]) -> dict:
        return {"settings": record, "seed": job.seed, "counts": counts, "steps": logged_steps(history)}

    def new_model():
        return reward_model_to_train(start_folder, job.seed, settings.pooling)[0]

    finish_training(trainer, tokenizer, new_model, training_record, job)
    if "margin" not in dataset.column_names and (warning := guessing_warning(trainer.state.log_history)):
        warn(f"{job.label}: {warning}")


def guessing_warning(history: Sequence[dict]) -> str:
    """Return what to say of a training that ends with the loss of a guess, or an empty text.

    history: what the trainer logged, with the `loss` of single steps. Their last fifth is looked at."""
    losses = [float(entry["loss"]) for entry in history if "loss" in entry]
    if len(losses) < ENOUGH_STEPS or (end := fmean(losses[-(len(losses) // 5) :])) < 0.98 * GUESSING:
        return ""
    return (
        f"may have learnt nothing: in the last fifth of its steps the loss is {end:.3f}, and equal rewards"
        f" have {GUESSING:.3f}; look at its training rows, or try another seed or a lower learning_rate"
    )


class _ReleaseMemory(TrainerCallback):
    """Keep the job's size near what it uses, at little cost: pages given back have to be fetched again."""

    def on_step_end(self, args, state, control, **kwargs):
        """Give freed memory back after every fourth step."""
        if state.global_step % 4 == 0:
            release_freed_memory()
