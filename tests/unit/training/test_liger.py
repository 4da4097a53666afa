"""What liger-kernel patches of the models that scales gpu and paper train, without a card: `make liger`.

Its kernels are Triton's, which a CPU has none of; a stand-in lets them be defined, and none is run."""

import importlib.machinery
import sys
from importlib.util import find_spec
from unittest.mock import MagicMock

import pytest
import torch._inductor.standalone_compile  # noqa: F401 - before the stand-in, which it would take for Triton
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

pytestmark = pytest.mark.skipif(not find_spec("liger_kernel"), reason="`make liger` brings liger-kernel")
SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
MODELS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SIZES)),
    "gemma3": lambda: Gemma3ForCausalLM(Gemma3TextConfig(**SIZES, head_dim=16, sliding_window=8)),
}
TRITON = [
    "triton",
    *(f"triton.{name}" for name in ("language", "language.extra", "language.math", "runtime", "testing")),
]
TRITON += [f"triton.language.extra.{name}" for name in ("libdevice", "cuda", "cuda.libdevice")]


class StandIn(MagicMock):
    """A module of Triton whose decorators return what they decorate."""

    __version__ = "3.0.0"
    __path__ = ()

    def __call__(self, *given, **options):
        return given[0] if len(given) == 1 and callable(given[0]) and not options else super().__call__()


@pytest.fixture(scope="module")
def patch():
    """Return Liger's function that patches a model."""
    with pytest.MonkeyPatch.context() as patched:
        if not find_spec("triton"):
            for name in TRITON:
                module = StandIn(name=name)
                module.__spec__ = importlib.machinery.ModuleSpec(name, None)
                patched.setitem(sys.modules, name, module)
        from liger_kernel.transformers import _apply_liger_kernel_to_instance

        yield _apply_liger_kernel_to_instance


@pytest.mark.parametrize("name", MODELS)
def test_norms_and_mlps_are_liger_s_and_the_head_is_the_model_s_own(name, patch):
    model = MODELS[name]()
    head = model.forward.__func__
    patch(model=model, fused_linear_cross_entropy=False)  # as TRL asks for it
    assert model.forward.__func__ is head
    forwards = {part: module.forward.__qualname__ for part, module in model.named_modules()}
    for layer in range(2):
        for part in ("mlp", "input_layernorm", "post_attention_layernorm"):
            assert forwards[f"model.layers.{layer}.{part}"].startswith("Liger"), part
