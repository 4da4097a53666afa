"""GRPO with TRL, whatever it rewards: replies to a prompt are compared with each other."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from accelerate import PartialState
from accelerate.utils import gather
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from polyreward.accel.trainers import references_loaded_by, speed_up_grpo_trainer
from polyreward.core.conversations import rendered
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.processes import count
from polyreward.models.devices import vllm_problems
from polyreward.models.generation import graphs_here, static_cache
from polyreward.settings.base import GrpoTraining
from polyreward.training.common import Announce, Job, fitting, logged_steps, lora_config, trainer_arguments
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


def train_by_grpo(
    start_folder: str | Path,
    examples: Sequence[dict],
    together: int,
    rewarder_of: Callable[[object], Rewarder],
    settings: GrpoTraining,
    job: Job,
    too_few: str,
    rewarding: Mapping | None = None,
) -> None:
    """Train a model on prompts and save it with training.json next to it.

    Args:
        examples: `prompt`, messages, and columns that rewards read.
        together: how many neighbours are kept or left out as one.
        rewarder_of: makes the rewarder from the tokenizer.
        too_few: advice of the error where fewer examples are left than one update takes.
        rewarding: how rewards are given, for the record.
    """
    record = {**job.recorded(settings), **(rewarding or {})}
    # Prompts of one update, over all processes.
    groups = settings.batch_size * settings.gradient_accumulation * count() // settings.generations
    if settings.vllm:
        problems = vllm_problems(settings.vllm_tensor_parallel, count())
        raise_all(problems, f"{job.label}: what this machine cannot do")
    dtype = record["precision"]
    # What adapters leave as it is needs no fp32 copy, and generation is twice as fast without.
    model, tokenizer = load_policy(start_folder, dtype if settings.lora else "float32")

    def length(example: dict) -> int:
        return len(rendered(tokenizer, example["prompt"], add_generation_prompt=True))

    kept = fitting(examples, length, settings.max_length, job.label, together)
    if len(kept) < groups:
        raise PolyrewardError(
            f"{job.label}: {len(kept)} of {len(examples)} questions are left to train on, fewer than the"
            f" {groups} of one update; {too_few}"
        )
    dataset = Dataset.from_list(kept)
    arguments = trainer_arguments(settings, record, start_folder, dataset, job)
    rewarder = rewarder_of(tokenizer)
    config = GRPOConfig(
        **arguments,
        max_steps=settings.steps,
        num_generations=settings.generations,
        num_iterations=settings.iterations,
        max_completion_length=settings.max_new_tokens,
        temperature=settings.temperature,
        beta=settings.beta,
        loss_type="grpo",
        scale_rewards=settings.scale_rewards,
        reward_weights=list(rewarder.weights),
        shuffle_dataset=False,  # neighbours stay in one batch
        use_vllm=settings.vllm,
        vllm_mode="colocate",
        vllm_gpu_memory_utilization=settings.vllm_gpu_share,
        vllm_tensor_parallel_size=settings.vllm_tensor_parallel,
        vllm_enable_sleep_mode=True,  # it gives its memory back while weights are updated
    )

    # The frozen copy that the KL divergence is to is loaded as policies are. TRL would load one without the
    # row of an added pad token, and in float32.
    with references_loaded_by(lambda path: load_policy(path, dtype)[0]):
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=counting_ties(rewarder.functions(), rewarder.weights, settings.generations),
            args=config,
            train_dataset=dataset,
            processing_class=tokenizer,
            peft_config=lora_config(settings.lora, model, "CAUSAL_LM"),
            callbacks=[Announce(job.label, "reward", "rewards/layout/mean", "kl")],
        )
    rewarder.trainer, rewarder.share = trainer, speed_up_grpo_trainer(trainer, count())
    # By CUDA graphs, as all that writes on a card, unless a prompt is run once for all replies to it. TRL
    # turns them off. Its continuous batching would cast what is trained to bfloat16.
    if graphs_here() and count() == 1 and not (settings.vllm or rewarder.share):
        cache = static_cache(settings.max_length + settings.max_new_tokens)
        trainer.generation_config.update(**cache, disable_compile=False)

    def training_record(history: Sequence[dict]) -> dict:
        counts = {"questions": len(kept), "left_out": len(examples) - len(kept), "groups": groups}
        return {"settings": record, "seed": job.seed, **counts, "steps": logged_steps(history)}

    finish_training(trainer, tokenizer, lambda: load_policy(start_folder)[0], training_record, job)


def counting_ties(
    functions: Sequence[Callable], weights: Sequence[float], generations: int
) -> list[Callable]:
    """Return rewards of which the last one logs `tied_groups`: the share of groups whose replies are all
    rewarded alike, and so teach nothing.

    TRL's own count, frac_reward_zero_std, is of the batch where the batch scales rewards.
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
