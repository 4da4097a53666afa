"""What models take of a card: estimates against peaks that were measured on small models, and what is refused."""

import re
import weakref

import pytest
import torch
from peft import get_peft_model
from tiny_models import ROOT
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification
from trl.kernels import chunked_logprob
from trl.trainer.utils import add_fused_lm_head

from polyreward.core.yaml_files import read_yaml
from polyreward.ops.memory import CONTEXT, FRAGMENTS, Shape, scoring_bytes, training_bytes
from polyreward.ops.resources import Job, ModelJob, too_large
from polyreward.settings.base import Lora, PolicyTraining
from polyreward.sheet.entries import read_models
from polyreward.training.common import lora_config

MODELS = read_yaml(ROOT / "workflow/catalog/models.yaml")
PAPER = read_models(["workflow/scales/paper.yaml"], ROOT).settings
WITHIN = 0.25  # of a measured peak


class Peak(TorchDispatchMode):
    """Count the bytes of all tensors that are alive, and the most at a time."""

    def __init__(self):
        super().__init__()
        self.now = self.most = 0
        self.alive = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        for tensor in filter(torch.is_tensor, tree_leaves(found)):
            storage = tensor.untyped_storage()
            if storage.nbytes() and storage._cdata not in self.alive:
                self.alive[storage._cdata] = storage.nbytes()
                self.now += storage.nbytes()
                weakref.finalize(storage, self._ended, storage._cdata)
        self.most = max(self.most, self.now)
        return found

    def _ended(self, key):
        self.now -= self.alive.pop(key)


def small_model(shape: Shape, kind=LlamaForSequenceClassification):
    return kind(
        LlamaConfig(
            vocab_size=shape.vocabulary,
            hidden_size=shape.width,
            intermediate_size=shape.mlp,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            pad_token_id=0,
            num_labels=1,
            tie_word_embeddings=True,
        )
    )


def batch(rows, length):
    ids = torch.randint(1, 500, (rows, length))
    mask = torch.ones_like(ids)
    mask[0, length // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask, "use_cache": False}


def loss_of(model, inputs, policy):
    """Return a reward model's loss, or that of TRL's trainers of policies, who multiply by the vocabulary in parts."""
    if policy:
        return -model(**inputs, labels=inputs["input_ids"], fused_lm_head=True).log_probs.sum()
    return model(**inputs).logits.float().sum()


def trained_peak(shape, settings, rows, half, policy=False) -> int:
    """Return the bytes of an update and of the step after it."""
    with Peak() as peak:
        model = small_model(shape, LlamaForCausalLM if policy else LlamaForSequenceClassification).train()
        if policy:
            add_fused_lm_head(model)
        if settings.lora:
            whole = ("CAUSAL_LM",) if policy else ("SEQ_CLS", ["score"])
            model = get_peft_model(model, lora_config(settings.lora, model, *whole))
        if settings.gradient_checkpointing:
            model.enable_input_require_grads()  # as TRL does
            model.gradient_checkpointing_enable({"use_reentrant": False})
        optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad])
        peak.most = peak.now
        for _ in range(2):
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss = loss_of(model, batch(rows, settings.max_length), policy)
            loss.backward()
            optimizer.step()
    return peak.most


def check_training(shape, settings, rows, half, policy=False):
    measured = trained_peak(shape, settings, rows, half, policy)
    held, added = training_bytes(shape, shape.parameters, settings, rows, half)
    assert held - CONTEXT + added / FRAGMENTS == pytest.approx(measured, rel=WITHIN)


SIZES = [
    (Shape(4, 128, 512, 4, 2, 32, 512), 4, 128),
    (Shape(4, 256, 1024, 8, 4, 32, 512), 4, 64),
    (Shape(6, 128, 256, 4, 2, 32, 512), 8, 128),
    (Shape(3, 192, 512, 6, 2, 32, 2048), 2, 256),
]


@pytest.mark.parametrize(("shape", "rows", "length"), SIZES, ids=lambda one: getattr(one, "width", one))
@pytest.mark.parametrize("half", [True, False], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("checkpointing", [False, True], ids=["kept", "checkpointed"])
@pytest.mark.parametrize("adapters", [None, 3], ids=["full", "adapters"])
def test_a_training_takes_what_was_measured(shape, rows, length, half, checkpointing, adapters):
    lora = adapters and Lora(rank=8, alpha=16, top_layers=adapters)
    changes = {"max_length": length, "lora": lora, "gradient_checkpointing": checkpointing}
    settings = PAPER.reward_model.model_copy(update={**changes, "optimizer": "adamw_torch"})
    check_training(shape, settings, rows, half)


WORDS = [(Shape(4, 256, 1024, 8, 4, 32, 512), 4, 64), (Shape(3, 192, 512, 6, 2, 32, 32768), 2, 256)]


@pytest.mark.parametrize(("shape", "rows", "length"), WORDS, ids=lambda one: getattr(one, "vocabulary", one))
@pytest.mark.parametrize("half", [True, False], ids=["bfloat16", "float32"])
@pytest.mark.parametrize("adapters", [None, 3], ids=["full", "adapters"])
def test_a_policy_s_training_meets_its_vocabulary_in_what_was_measured(
    shape, rows, length, half, adapters, monkeypatch
):
    """Triton's kernels and cuBLAS work in place, where torch on a CPU makes copies: stand-ins make none."""
    for name in ("_forward_tile", "_backward_tile", *(["_addmm_fp32"] if half else [])):
        monkeypatch.setattr(chunked_logprob, name, lambda *given, **options: None)
    lora = adapters and Lora(rank=8, alpha=16, top_layers=adapters)
    settings = PolicyTraining(learning_rate=1e-3, max_length=length, lora=lora, gradient_checkpointing=True)
    check_training(shape, settings, rows, half, policy=True)


@pytest.mark.parametrize(("shape", "rows", "length"), SIZES, ids=lambda one: getattr(one, "width", one))
@pytest.mark.parametrize(("dtype", "size"), [(torch.bfloat16, 2), (torch.float32, 4)], ids=str)
def test_scoring_takes_what_was_measured(shape, rows, length, dtype, size):
    with Peak() as peak, torch.inference_mode():
        model = small_model(shape).to(dtype).eval()
        peak.most = peak.now
        model(**batch(rows, length))
    held, added = scoring_bytes(shape, shape.parameters, rows * length, size, cached=False)
    assert held - CONTEXT + added / FRAGMENTS == pytest.approx(peak.most, rel=WITHIN)


@pytest.mark.parametrize(("shape", "rows", "length"), SIZES, ids=lambda one: getattr(one, "width", one))
def test_keys_and_values_take_what_was_measured(shape, rows, length):
    with torch.inference_mode():
        model = small_model(shape).model.to(torch.bfloat16).eval()
        kept = model(**{**batch(rows, length), "use_cache": True}).past_key_values
    measured = sum(one.nbytes for layer in kept.layers for one in (layer.keys, layer.values))
    assert shape.cache(rows * length) == measured


@pytest.mark.parametrize(
    "name", [name for name, one in MODELS.items() if "shape" in one and not name.startswith("nllb")]
)
def test_the_layers_of_a_known_model_hold_its_parameters(name):
    """But NLLB's, which has an encoder and a decoder."""
    shape, billions = Shape(**MODELS[name]["shape"]), MODELS[name]["parameters_b"]
    if name in ("gemma-3-4b-it", "gemma-3-27b-it"):
        billions -= 0.42  # 27 layers for pictures, of width 1152 and 4304
    whole = pytest.approx(billions * 1e9, rel=0.02)
    head = shape.vocabulary * shape.width  # tied to the embedding in the small ones
    assert whole in (shape.parameters, shape.parameters + head)


def job(kind, base, training, processes=1, shards=1):
    model = ModelJob(
        kind, lambda wildcards: [base], training, MODELS, "bfloat16", processes, True, 60, 16384, shards
    )
    return Job("a_rule", {}, model)


def test_what_does_not_fit_is_refused_with_the_settings_that_would():
    changes = {"batch_size": 16, "gradient_accumulation": 8, "vllm": False}
    grpo = PAPER.think_as_locals.grpo.model_copy(update=changes)
    problem = too_large([job("grpo", "qwen2.5-7b-instruct", grpo, 4, 4)], 79)
    assert problem == [
        "a_rule: qwen2.5-7b-instruct needs 97 GiB on each of 4 GPUs, of 79; set gradient_checkpointing, halve"
        " batch_size, train adapters (`lora`), or take larger GPUs"
    ]
    smaller = grpo.model_copy(update={"batch_size": 8, "gradient_accumulation": 16})
    assert too_large([job("grpo", "qwen2.5-7b-instruct", smaller, 4, 4)], 79) == []
    (judge,) = too_large([job("score", "qwen2.5-14b-instruct", None)], 22)
    assert judge.endswith("spread it (`gpus` in its entry), serve it (`server`), or take larger GPUs")


@pytest.mark.parametrize(
    ("base", "share", "parallel", "problems"),
    [
        ("qwen2.5-7b-instruct", 0.3, 1, []),
        ("qwen2.5-7b-instruct", 0.2, 1, ["vLLM's copy takes 17 GiB of each GPU, and vllm_gpu_share gives it 16"]),
        ("qwen2.5-14b-instruct", 0.15, 4, []),
        ("qwen2.5-14b-instruct", 0.4, 4, ["training takes 6. GiB of each GPU and vLLM 32"]),
        ("qwen2.5-32b-instruct", 0.25, 4,
         ["needs 1.. GiB on each of 4 GPUs", "training takes 1.. GiB of each GPU and vLLM 20"]),
    ],
)  # fmt: skip
def test_vllm_fits_next_to_grpo_or_is_refused(base, share, parallel, problems):
    vllm = {"vllm_gpu_share": share, "vllm_tensor_parallel": parallel}
    settings = PAPER.think_as_locals.grpo.model_copy(update={**vllm, "batch_size": 1})
    lines = too_large([job("grpo", base, settings, 4, 4)], 80)
    assert len(lines) == len(problems)
    for problem, line in zip(problems, lines, strict=True):
        assert re.search(problem, line), line
