"""GRPO with TRL, whatever it rewards: replies to a prompt are compared with each other, and the result is a
plain folder."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import torch
from accelerate import PartialState
from accelerate.utils import gather
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import grpo_trainer

from polyreward.accel.trainers import speed_up_grpo_trainer
from polyreward.core.conversations import rendered
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import announce
from polyreward.core.processes import count
from polyreward.models.devices import vllm_problems
from polyreward.models.precision import dtype_of, torch_dtype
from polyreward.settings.base import GrpoTraining
from polyreward.training.checkpoints import checkpoint_arguments
from polyreward.training.common import (
    Announce,
    fitting,
    logged_steps,
    lora_config,
    recorded,
    trainer_arguments,
)
from polyreward.training.finish import finish_training
from polyreward.training.policies import load_policy


class Rewarder(Protocol):
    """What rewards replies. weights: of its functions. trainer, share: set before the first reply to the one
    that trains, and to whether it runs a prompt once for all replies to it."""

    trainer: GRPOTrainer | None
    share: bool
    weights: Sequence[float]

    def functions(self) -> list[Callable]:
        """Return the rewards, as GRPOTrainer's reward_funcs."""
        ...

    def describe(self, logs: Mapping[str, float]) -> str:
        """Return what a step's replies were like, for a line of progress; "" for nothing."""
        ...


def train_by_grpo(
    start_folder: str | Path,
    examples: Sequence[dict],
    together: int,
    rewarder_of: Callable[[object], Rewarder],
    settings: GrpoTraining,
    seed: int,
    checkpoints: str | Path,
    out_folder: str | Path,
    label: str,
    too_few: str,
    precision: str = "float32",
    liger: bool = False,
    rewarding: dict | None = None,
) -> None:
    """Train a model on prompts and save it with training.json next to it.

    Args:
        examples: `prompt`, messages, and columns that rewards read.
        together: how many neighbours are kept or left out as one.
        rewarder_of: makes the rewarder from the tokenizer.
        checkpoints: a folder that outlives a killed run; an equal run resumes from its last checkpoint, and
            removes the folder when done.
        too_few: advice of the error where fewer examples are left than one update takes.
        precision, liger: as in trainer_arguments.
        rewarding: how rewards are given, for the record and the name of checkpoints.
    """
    precision = dtype_of(precision)
    record = {**recorded(settings, precision, liger), **(rewarding or {})}
    # Prompts of one update, over all processes.
    groups = settings.batch_size * settings.gradient_accumulation * count() // settings.generations
    if settings.vllm:
        raise_all(
            vllm_problems(settings.vllm_tensor_parallel, count()), f"{label}: what this machine cannot do"
        )
    # What adapters leave as it is needs no fp32 copy, and generation is twice as fast without.
    dtype = torch.bfloat16 if precision == "bfloat16" and settings.lora else torch.float32
    model, tokenizer = load_policy(start_folder, dtype)

    def length(example: dict) -> int:
        return len(rendered(tokenizer, example["prompt"], add_generation_prompt=True))

    kept = fitting(examples, length, settings.max_length, together)
    if len(kept) < groups:
        raise PolyrewardError(
            f"{label}: {len(kept)} of {len(examples)} questions are left to train on, fewer than the"
            f" {groups} of one update; {too_few}"
        )
    announce(
        f"{label}: {len(kept)} questions, {len(examples) - len(kept)} left out as longer than"
        f" {settings.max_length} tokens"
    )
    dataset = Dataset.from_list(kept)
    arguments = trainer_arguments(settings, seed, label, precision, liger)  # refuses before more is loaded
    rewarder = rewarder_of(tokenizer)
    config = GRPOConfig(
        **checkpoint_arguments(checkpoints, start_folder, record, seed, dataset),
        **arguments,
        max_steps=settings.steps,
        num_generations=settings.generations,
        num_iterations=settings.iterations,
        max_completion_length=settings.max_new_tokens,
        temperature=settings.temperature,
        beta=settings.beta,
        epsilon=settings.epsilon,
        loss_type="grpo",
        scale_rewards=settings.scale_rewards,
        reward_weights=list(rewarder.weights),
        shuffle_dataset=False,  # neighbours stay in one batch
        use_vllm=settings.vllm,
        vllm_mode="colocate",
        vllm_gpu_memory_utilization=settings.vllm_gpu_share,
        vllm_tensor_parallel_size=settings.vllm_tensor_parallel,
        vllm_enable_sleep_mode=settings.vllm_sleep,
    )

    def describe(logs: Mapping[str, float]) -> str:
        if "reward" not in logs:  # a step on replies of an earlier one
            return ""
        said = rewarder.describe(logs)
        kl = f"KL {float(logs.get('kl') or 0):.3f}"
        return ", ".join(filter(None, [f"reward {float(logs['reward']):.2f}", said, kl]))

    with references_as_policies(precision):
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=counting_ties(rewarder.functions(), rewarder.weights, settings.generations),
            args=config,
            train_dataset=dataset,
            processing_class=tokenizer,
            peft_config=lora_config(settings.lora, model, "CAUSAL_LM"),
            callbacks=[Announce(label, describe)],
        )
    rewarder.trainer, rewarder.share = trainer, speed_up_grpo_trainer(trainer, count())

    def training_record(history: Sequence[dict]) -> dict:
        counts = {"questions": len(kept), "left_out": len(examples) - len(kept), "groups": groups}
        return {"settings": record, "seed": seed, **counts, "steps": logged_steps(history)}

    def new_model():
        return load_policy(start_folder)[0]

    finish_training(trainer, tokenizer, new_model, training_record, checkpoints, out_folder, label)


@contextmanager
def references_as_policies(precision: str) -> Iterator[None]:
    """Let TRL load the frozen copy that the KL divergence is to as policies are loaded.

    It would load one without the row of an added pad token, and of float32."""
    whole = grpo_trainer.create_model_from_path
    grpo_trainer.create_model_from_path = lambda folder, **_: load_policy(folder, torch_dtype(precision))[0]
    try:
        yield
    finally:
        grpo_trainer.create_model_from_path = whole


def counting_ties(
    functions: Sequence[Callable], weights: Sequence[float], generations: int
) -> list[Callable]:
    """Return rewards of which the last one logs `tied_groups`: the share of groups whose replies are all
    rewarded alike, and so teach nothing.

    TRL's own count, frac_reward_zero_std, is of the batch where the batch scales rewards.

    Args:
        functions: the rewards, as TRL calls them.
        generations: replies to a prompt.
    """
    found: list[list[float]] = []

    def counted(function: Callable) -> Callable:
        @functools.wraps(function)
        def reward(*args, log_metric, **columns) -> list[float]:
            values = function(*args, log_metric=log_metric, **columns)
            found.append(values)
            if len(found) == len(functions):
                every = gather(torch.tensor(found, device=PartialState().device).T.contiguous())
                found.clear()
                rewards = (every * torch.tensor(weights, device=every.device)).nansum(dim=1)
                lowest, highest = rewards.view(-1, generations).aminmax(dim=1)
                log_metric("tied_groups", torch.isclose(lowest, highest).float().mean().item())
            return values

        return reward

    return [counted(function) for function in functions]
