"""All that replaces a forward pass, or reaches privately into torch, transformers or TRL, for speed on
CPUs."""

import torch

# What models raise that cannot be run in some way.
CANNOT = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def on() -> bool:
    """Return whether models are sped up.

    With a CUDA device they are not: torch, transformers and TRL run there as they are."""
    return not torch.cuda.is_available()


def alike(states: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> bool:
    """Return whether what a model of this dtype computes in one way is what it computes in another, to
    rounding."""
    tolerance = 1e-4 if dtype == torch.float32 else 5e-2
    return bool((states.float() - expected.float()).norm() <= tolerance * expected.float().norm())
