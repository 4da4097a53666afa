"""Every training of scales gpu and paper takes a step with that scale's own settings, on models of two layers.

Only counts are made small. Stubs stand in for what a card alone runs, liger-kernel and bitsandbytes, and keep
what they are asked for; several processes are tested elsewhere."""

import json
import sys
from types import ModuleType

import pytest
import torch
import trl
from locals_data import CULTURES, item
from support import script
from tiny_models import ROOT, ROWS

from polyreward.carb.downstream.grpo import train_policy
from polyreward.config.scale import read_scale
from polyreward.think_as_locals.grpo import train_grpo
from polyreward.training import common
from polyreward.training.policies import train_dpo, train_sft
from polyreward.training.reward_model import train_reward_model

SCALES = {name: read_scale([f"workflow/scales/{name}.yaml"], ROOT) for name in ("gpu", "paper")}
both_orders, training_pairs = (
    getattr(script("prepare/locals_pairs"), name) for name in ("both_orders", "training_pairs")
)
REPLY = {"max_new_tokens": 4, "steps": 1, "vllm": False}  # vLLM needs a card, and replies nothing else


class Card:
    """What stubs were asked for: (model's class, Liger's kernels), and the optimizer's arguments."""

    def __init__(self):
        self.liger, self.optimizer = [], []


def packages(card: Card) -> dict[str, ModuleType]:
    """Return stand-ins for liger-kernel and bitsandbytes."""

    def patch(model, fused_linear_cross_entropy=True, **kernels):
        if fused_linear_cross_entropy and not hasattr(model, "lm_head"):
            # As the kernels do in a forward pass.
            raise TypeError("the fused loss multiplies by a vocabulary head")
        card.liger.append((type(model).__name__, fused_linear_cross_entropy))

    class AdamW(torch.optim.AdamW):
        def __init__(self, parameters, optim_bits, is_paged, **options):
            card.optimizer.append((optim_bits, is_paged))
            super().__init__(parameters, **options)

    made = {
        name: ModuleType(name) for name in ("liger_kernel", "liger_kernel.transformers", "bitsandbytes.optim")
    }
    made["liger_kernel.transformers"]._apply_liger_kernel_to_instance = patch
    made["bitsandbytes.optim"].__dict__.update(AdamW=AdamW, Lion=None, RMSprop=None)
    return made


@pytest.fixture
def card(monkeypatch):
    """Let trainings ask for a card's packages, and keep what they ask for."""
    found = Card()
    for name, module in packages(found).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("transformers.integrations.liger.is_liger_kernel_available", lambda: True)
    monkeypatch.setattr("transformers.trainer_optimizer.is_bitsandbytes_available", lambda: True)
    monkeypatch.setattr(common, "device_problems", lambda *asked: [])
    return found


@pytest.fixture
def arguments(monkeypatch):
    """Collect the arguments of every trainer that is made."""
    found = []
    for kind in (trl.RewardTrainer, trl.DPOTrainer, trl.SFTTrainer, trl.GRPOTrainer):
        made = kind.__init__

        def init(trainer, *args, made=made, **options):
            made(trainer, *args, **options)
            found.append(trainer.args)

        monkeypatch.setattr(kind, "__init__", init)
    return found


def pairs(count):
    """Return so many pairs of a training set, each with an id of its own."""
    return [{**ROWS[number % len(ROWS)], "id": f"p{number}"} for number in range(count)]


@pytest.fixture
def step(bases, tmp_path, card, arguments):
    """Return a function that takes a training's step with a scale's settings, and asserts that it was taken so."""

    def take(function, data, scale, settings, changes, **given):
        settings = settings.model_copy(update={"gradient_accumulation": 1, "save_every": 10**6, **changes})
        liger = function is not train_reward_model
        of_scale = scale.policy_training(settings) if liger else scale.training(settings)
        where = {"checkpoints": tmp_path / "checkpoints", "out_folder": tmp_path / "model"}
        asked = {**of_scale, "seed": 1, "label": "step", **where, **given}
        function(bases["tiny-llama"], data(settings.batch_size), **asked)
        (args,) = arguments
        assert args.bf16 and args.gradient_checkpointing == settings.gradient_checkpointing
        assert args.per_device_train_batch_size == settings.batch_size
        assert card.liger == ([("LlamaForCausalLM", False)] if liger else [])
        eight_bit = "8bit" in getattr(settings, "optimizer", "")
        assert card.optimizer == ([(8, True)] if eight_bit else [])
        record = json.loads((tmp_path / "model/training.json").read_text(encoding="utf-8"))
        assert record["settings"]["precision"] == scale.settings.precision == "bfloat16"
        assert (record["settings"]["lora"] is None) == (settings.lora is None)

    return take


@pytest.mark.parametrize("name", SCALES)
def test_a_reward_model_takes_a_step_without_liger(name, step):
    scale = SCALES[name]
    step(train_reward_model, pairs, scale, scale.settings.reward_model, {"epochs": 1})


@pytest.mark.parametrize("name", SCALES)
def test_a_policy_takes_a_step_of_dpo_with_liger_but_its_loss(name, step):
    scale = SCALES[name]
    step(train_dpo, pairs, scale, scale.settings.alignment.dpo, {})


def test_the_warm_up_of_scale_gpu_takes_a_step(step):
    scale = SCALES["gpu"]
    step(train_sft, pairs, scale, scale.settings.think_as_locals.warmup, {"epochs": 1.0})


@pytest.mark.parametrize("name", SCALES)
def test_a_judge_takes_a_step_of_grpo(name, step):
    scale, judges = SCALES[name], SCALES[name].settings.think_as_locals
    questions = both_orders(training_pairs([item("tea", culture) for culture in CULTURES])[:8])
    how = {"rewards": judges.runs["full"], "criteria": True, "quote": judges.criteria_quote}
    step(train_grpo, lambda count: questions, scale, judges.grpo, {**REPLY, "generations": 2}, **how)


def test_a_policy_of_scale_paper_takes_a_step_of_grpo_by_a_reward_model(trained, tmp_path, step):
    def prompts(count):
        return [f"What do people eat in winter? {n}" for n in range(count)]

    scale, scorer = SCALES["paper"], {"kind": "classifier", "source": str(trained["tiny-gemma"])}
    scoring = {"dtype": "float32", "max_length": 256, "token_budget": 4096, "attention": "sdpa"}
    how = {"entry": scorer, "scoring": scoring, "cache": tmp_path / "cache"}
    step(train_policy, prompts, scale, scale.settings.carb.grpo, {**REPLY, "generations": 8}, **how)
