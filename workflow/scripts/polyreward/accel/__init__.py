"""All that replaces a forward pass, or reaches privately into torch, transformers or TRL, for speed on
CPUs."""

import torch


def on() -> bool:
    """Return whether models are sped up.

    With a CUDA device they are not: torch, transformers and TRL run there as they are."""
    return not torch.cuda.is_available()
