"""What certainly does not fit a card: weights, gradients and the optimizer's state."""

import re

import pytest
import torch
from tiny_models import ROOT
from transformers import AutoConfig, AutoModelForCausalLM

from polyreward.core.yaml_files import read_yaml
from polyreward.ops.resources import Job, ModelJob, gib, too_large
from polyreward.ops.stand_ins import architecture_of, by_shape
from polyreward.settings.base import Lora
from polyreward.sheet.entries import read_models

MODELS = read_yaml(ROOT / "workflow/catalog/models.yaml")
PAPER = read_models(["workflow/scales/paper.yaml"], ROOT).settings


@pytest.mark.parametrize(
    "name", [name for name, one in MODELS.items() if "shape" in one and not name.startswith("nllb")]
)
def test_the_stand_in_of_a_known_model_has_its_parameters(name):
    """But NLLB's, which has an encoder and a decoder."""
    billions = MODELS[name]["parameters_b"]
    if name in ("gemma-3-4b-it", "gemma-3-27b-it"):
        billions -= 0.42  # 27 layers for pictures, of width 1152 and 4304
    sizes = by_shape(MODELS[name]["shape"], MODELS[name]["parameters_b"])
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(
            AutoConfig.for_model(architecture_of(name, MODELS[name]), **sizes)
        )
    assert model.num_parameters() == pytest.approx(billions * 1e9, rel=0.02)


def job(kind, base, training, processes=1, shards=1):
    model = ModelJob(
        kind, lambda wildcards: [base], training, MODELS, "bfloat16", processes, True, 60, 16384, shards
    )
    return Job("a_rule", {}, model)


@pytest.mark.parametrize(("changes", "each"), [
    ({"optimizer": "adamw_torch"}, 16), ({"optimizer": "adamw_8bit"}, 10), ({"optimizer": "paged_adamw_8bit"}, 8),
    ({"lora": Lora(top_layers=7)}, 4),
])  # fmt: skip
def test_a_training_holds_so_many_bytes_of_each_parameter(changes, each):
    """Weights, gradients and two moments; a paged optimizer may have its moments in main memory."""
    training = PAPER.reward_model.model_copy(update=changes)
    entry = MODELS["llama-3.2-3b-instruct"]
    assert job("train", "llama-3.2-3b-instruct", training).model.card_bytes(entry) == each * 3.21e9
    spread = job("train", "llama-3.2-3b-instruct", training, 4, 4)
    assert spread.model.card_bytes(entry) == each * 3.21e9 / 4


def test_what_certainly_does_not_fit_is_refused_with_the_settings_that_would():
    training = PAPER.reward_model.model_copy(update={"optimizer": "adamw_torch"})
    (problem,) = too_large([job("train", "llama-3.2-3b-instruct", training)], 24)
    assert problem == (
        "a_rule: llama-3.2-3b-instruct needs 48 GiB for weights, gradients and the optimizer's state on one GPU,"
        " of 24; set `optimizer: paged_adamw_8bit`, train adapters (`lora`), split it over GPUs"
        " (`devices.launch`), or take larger GPUs"
    )
    assert too_large([job("train", "llama-3.2-3b-instruct", PAPER.reward_model)], 24) == []
    without_vllm = PAPER.carb.grpo.model_copy(update={"vllm": False})
    (grpo,) = too_large([job("grpo", "qwen2.5-7b-instruct", without_vllm)], 80)
    assert "weights, gradients" in grpo and "optimizer: paged" not in grpo  # GRPO has no such setting
    (judge,) = too_large([job("score", "qwen2.5-14b-instruct", None)], 22)
    assert "needs 28 GiB for its weights on one GPU, of 22; spread it (`gpus` in its entry), serve" in judge
    assert too_large([job("score", "qwen2.5-14b-instruct", None)], gib(2 * 14.8e9)) == []


@pytest.mark.parametrize(
    ("base", "share", "parallel", "problems"),
    [
        ("qwen2.5-7b-instruct", 0.3, 1, []),
        ("qwen2.5-7b-instruct", 0.1, 1, ["vLLM's copy takes 14 GiB of each GPU, and vllm_gpu_share gives it 8"]),
        ("qwen2.5-14b-instruct", 0.15, 4, []),
        ("qwen2.5-14b-instruct", 0.4, 4, ["training takes 62 GiB of each GPU and vLLM 32"]),
        ("qwen2.5-32b-instruct", 0.25, 4,
         ["needs 1.. GiB for weights.* on each of 4 GPUs", "training takes 1.. GiB of each GPU and vLLM 20"]),
    ],
)  # fmt: skip
def test_vllm_fits_next_to_grpo_or_is_refused(base, share, parallel, problems):
    vllm = {"vllm_gpu_share": share, "vllm_tensor_parallel": parallel}
    settings = PAPER.think_as_locals.grpo.model_copy(update={**vllm, "batch_size": 1})
    lines = too_large([job("grpo", base, settings, 4, 4)], 80)
    assert len(lines) == len(problems)
    for problem, line in zip(problems, lines, strict=True):
        assert re.search(problem, line), line
