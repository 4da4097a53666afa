"""Every training of scales gpu and paper takes a step with that scale's own settings, on models of two layers.

Only counts are made small. Stubs replace what only a card runs, liger-kernel and bitsandbytes, and keep what
they are asked for; several processes are tested elsewhere."""

import json
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import pytest
import torch
from locals_data import CULTURES, item
from support import script
from tiny_models import ROOT, ROWS
from transformers import Trainer

from polyreward.carb.downstream.grpo import train_policy
from polyreward.sheet.entries import read_models
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training import common
from polyreward.training.launch import train_job
from polyreward.training.policies import train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

SCALES = {name: read_models([f"workflow/scales/{name}.yaml"], ROOT).settings for name in ("gpu", "paper")}
locals_pairs = script("prepare/locals_pairs")
REPLY = {"max_new_tokens": 4, "steps": 1, "vllm": False}  # vLLM needs a card, and replies nothing else
PAIRS = [{**ROWS[number % len(ROWS)], "id": f"p{number}"} for number in range(128)]


@pytest.fixture
def card(monkeypatch):
    """Let trainings ask for a card's packages. Return what they ask for: the classes of models and the kernels
    of Liger, the arguments of optimizers, and the trainers' own."""
    asked = SimpleNamespace(liger=[], optimizer=[], arguments=[])

    def patch(model, fused_linear_cross_entropy=True, **kernels):
        if fused_linear_cross_entropy and not hasattr(model, "lm_head"):
            # As the kernels do in a forward pass.
            raise TypeError("the fused loss multiplies by a vocabulary head")
        asked.liger.append((type(model).__name__, fused_linear_cross_entropy))

    class AdamW(torch.optim.AdamW):
        def __init__(self, parameters, optim_bits, is_paged, **options):
            asked.optimizer.append((optim_bits, is_paged))
            super().__init__(parameters, **options)

    stubs = {
        "liger_kernel": {},
        "liger_kernel.transformers": {"_apply_liger_kernel_to_instance": patch},
        "bitsandbytes.optim": {"AdamW": AdamW, "Lion": None, "RMSprop": None},
    }
    for name, parts in stubs.items():
        module = ModuleType(name)
        module.__dict__.update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("transformers.integrations.liger.is_liger_kernel_available", lambda: True)
    monkeypatch.setattr("transformers.trainer_optimizer.is_bitsandbytes_available", lambda: True)
    monkeypatch.setattr(common, "device_problems", lambda *given: [])
    plain = Trainer.train

    def train(trainer, *given, **options):
        asked.arguments.append(trainer.args)
        return plain(trainer, *given, **options)

    monkeypatch.setattr(Trainer, "train", train)
    return asked


@pytest.fixture
def step(bases, tmp_path, card):
    """Return a function that takes a training's step with a scale's settings, and asserts that it was taken so."""

    def take(function, data, scale, settings, changes=(), **given):
        settings = settings.model_copy(
            update={"gradient_accumulation": 1, "save_every": 10**6, **dict(changes)}
        )
        liger = function is not train_reward_model
        of_scale = scale.policy_arguments(settings) if liger else scale.training_arguments(settings)
        params = SimpleNamespace(
            training={**of_scale, **given}, launch=None, seed=1, checkpoints=tmp_path / "checkpoints"
        )
        job = SimpleNamespace(params=params, output=[tmp_path / "model"])
        train_job(partial(function, bases["tiny-llama"], data[: settings.batch_size]), job, "step")
        (args,) = card.arguments
        assert args.bf16 and args.gradient_checkpointing == settings.gradient_checkpointing
        assert args.per_device_train_batch_size == settings.batch_size
        assert card.liger == ([("LlamaForCausalLM", False)] if liger else [])
        eight_bit = "8bit" in getattr(settings, "optimizer", "")
        assert card.optimizer == ([(8, True)] if eight_bit else [])
        record = json.loads((tmp_path / "model/training.json").read_text(encoding="utf-8"))
        assert record["settings"]["precision"] == scale.precision == "bfloat16"
        assert (record["settings"]["lora"] is None) == (settings.lora is None)

    return take


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_reward_model_takes_a_step_without_liger(scale, step):
    step(train_reward_model, PAIRS, scale, scale.reward_model, {"epochs": 1})


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_policy_takes_a_step_of_dpo_with_liger_but_its_loss(scale, step):
    step(train_dpo, PAIRS, scale, scale.alignment.dpo)


def test_the_warm_up_of_scale_gpu_takes_a_step(step):
    scale = SCALES["gpu"]
    step(train_sft, PAIRS, scale, scale.think_as_locals.warmup, {"epochs": 1.0})


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_judge_takes_a_step_of_grpo(scale, step):
    judges = scale.think_as_locals
    pairs = locals_pairs.training_pairs([item("tea", culture) for culture in CULTURES])
    questions = locals_pairs.both_orders(pairs[:8])
    how = {"rewards": judges.runs["full"], "criteria": True, "quote": judges.criteria_quote}
    step(train_grpo, questions, scale, judges.grpo, {**REPLY, "generations": 2}, **how)


def test_a_policy_of_scale_paper_takes_a_step_of_grpo_by_a_reward_model(trained, tmp_path, step):
    scale, scorer = SCALES["paper"], {"kind": "classifier", "source": str(trained["tiny-gemma"])}
    prompts = [f"What do people eat in winter? {n}" for n in range(128)]
    scoring = {"dtype": "float32", "max_length": 256, "token_budget": 4096, "attention": "sdpa"}
    how = {"entry": scorer, "scoring": scoring, "cache": tmp_path / "cache"}
    step(train_policy, prompts, scale, scale.carb.grpo, {**REPLY, "generations": 8}, **how)
