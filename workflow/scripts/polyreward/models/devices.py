"""What a training asks of this machine's card and of vLLM.

ops/cluster.py has checked GPUs and the other packages before the run."""

from collections.abc import Iterator
from importlib import metadata

import torch

VLLM = "0.31.0"  # of pyproject.toml's extra: the newest that this TRL's GRPO knows


def device() -> str:
    """Return where models run: the CUDA device where there is one, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def device_problems(precision: str) -> Iterator[str]:
    """Yield a problem where this machine's card does not compute in a precision: float32 or bfloat16."""
    cuda = torch.cuda.is_available()
    if precision == "bfloat16" and cuda and not torch.cuda.is_bf16_supported(including_emulation=False):
        major, minor = torch.cuda.get_device_capability()
        yield (
            f"precision: {torch.cuda.get_device_name()} (compute capability {major}.{minor}) does not compute"
            " in bfloat16; set precision to float32, which takes twice the memory, or use a card of"
            " capability 8.0 or more"
        )


def vllm_problems(tensor_parallel: int, processes: int) -> Iterator[str]:
    """Yield what GRPO with vLLM asks of this machine in vain. processes: of the training, one on each GPU."""
    try:
        version = metadata.version("vllm")
    except metadata.PackageNotFoundError:
        yield (
            "vllm: true needs the package vllm, which is not installed: pip install -e '.[vllm]', or set it"
            " to false"
        )
    else:
        if version != VLLM:
            yield f"vllm {version} is installed, and GRPO was written for {VLLM}: pip install -e '.[vllm]'"
    if processes % tensor_parallel:
        yield (
            f"vllm_tensor_parallel: {tensor_parallel} does not divide the training's {processes} processes;"
            " set it to a divisor, or change num_processes of devices.launch"
        )
