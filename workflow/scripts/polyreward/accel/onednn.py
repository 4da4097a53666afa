"""Matrix multiplication in fp32 by oneDNN, where torch would take MKL: on AMD's processors with AVX-512
that is twice as fast.

MKL does not use AVX-512 there. On AMD's processors without it, MKL is 15% faster, except for the product
with a whole vocabulary. On Intel's, MKL is 2 to 17% faster."""

import math
import os
from functools import partial
from pathlib import Path

import torch
from torch import nn

from polyreward import accel

OPERATOR = (
    getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch.backends.mkldnn.is_available() else None
)
NOT_FOR_MKL = {"AuthenticAMD", "HygonGenuine"}  # vendors whose AVX-512 MKL does not use
VOCABULARY = 100_000  # outputs; with 262,144 and AVX2, oneDNN is 1.2 to 1.5 times as fast


def faster_from(cpuinfo: str, portable: bool) -> float:
    """Return from how many outputs of a layer on oneDNN is faster, from /proc/cpuinfo's text; inf for
    never.

    portable: whether jobs are held to AVX2 (ops/jobs.py), which slows MKL down on all processors of these
    vendors; they then all take oneDNN, so as to round alike."""
    lines = (line.partition(":") for line in reversed(cpuinfo.splitlines()))
    fields = {name.strip(): value.strip() for name, _, value in lines}  # of the first processor
    if fields.get("vendor_id") not in NOT_FOR_MKL:
        return math.inf
    return 0 if portable or "avx512f" in fields.get("flags", "").split() else VOCABULARY


def _faster_from_here() -> float:
    path = Path("/proc/cpuinfo")
    cpuinfo = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return math.inf if OPERATOR is None else faster_from(cpuinfo, portable="MKL_CBWR" in os.environ)


FASTER_FROM = _faster_from_here()


def multiply_by_onednn(model: nn.Module, outputs: float = FASTER_FROM) -> nn.Module:
    """Let a model's linear layers in fp32 on a CPU multiply by oneDNN where that is faster; return the
    model.

    Layers whose weights are trained keep torch's own while gradients are computed. Results differ by about
    1e-6. outputs: layers with fewer are left as they are."""
    if not accel.on():
        return model
    for module in model.modules():
        if type(module) is nn.Linear and module.out_features >= outputs and _multipliable(module.weight):
            module.forward = partial(_linear, module)
    return model


def _multipliable(values: torch.Tensor) -> bool:
    return values.dtype == torch.float32 and values.device.type == "cpu"


def _linear(module: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    weight, bias = module.weight, module.bias
    # The model may be on another device by now.
    plain = _multipliable(x) and not torch.is_autocast_enabled("cpu")
    if plain and not torch.is_grad_enabled():
        return _multiplied(x, weight, bias)
    if not plain or weight.requires_grad or (bias is not None and bias.requires_grad):
        return nn.functional.linear(x, weight, bias)
    return _Frozen.apply(x, weight, bias)


def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return x (..., inputs) by the transpose of weight (outputs, inputs), fp32, without a gradient."""
    return _multiplied(x, weight) if FASTER_FROM == 0 else x @ weight.t()


def _multiplied(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return OPERATOR(x, weight, bias, "none", [], "")


class _Frozen(torch.autograd.Function):
    """A linear layer of which only the input has a gradient."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(weight)
        return _multiplied(x, weight, bias)

    @staticmethod
    def backward(ctx, gradient):
        (weight,) = ctx.saved_tensors
        return _multiplied(gradient, weight.t()), None, None
