"""All that replaces a forward pass, or reaches privately into torch, transformers or TRL."""

import torch

# What models raise that cannot be run in some way.
CANNOT = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def on() -> bool:
    """Return whether models are sped up: not with a CUDA device, where all run as they are."""
    return not torch.cuda.is_available()


def is_eager(config) -> bool:
    """Return whether a model of this configuration runs transformers' eager attention."""
    return config._attn_implementation == "eager"


def forget_attention(config) -> None:
    """Take the attention that a model's folder asks for out of its configuration."""
    config._attn_implementation = None


def alike(states: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> bool:
    """Return whether a model of this dtype computes the same in two ways, to rounding."""
    tolerance = 1e-4 if dtype == torch.float32 else 5e-2
    return bool((states.float() - expected.float()).norm() <= tolerance * expected.float().norm())
