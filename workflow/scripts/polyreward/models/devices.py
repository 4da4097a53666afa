"""What settings of a training ask of this machine's device and its packages."""

from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

import torch

from polyreward.models.cuda import how_to_install, needed_package

VLLM = "0.31.0"  # of pyproject.toml's extra: the newest that this TRL's GRPO knows


def device() -> str:
    """Return where models run: the CUDA device where there is one, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def device_problems(precision: str, optimizer: str, liger: bool) -> Iterator[str]:
    """Yield what settings of a training ask of this machine in vain. precision: float32 or bfloat16."""
    cuda = torch.cuda.is_available()
    if precision == "bfloat16" and cuda and not torch.cuda.is_bf16_supported(including_emulation=False):
        major, minor = torch.cuda.get_device_capability()
        yield (
            f"precision: {torch.cuda.get_device_name()} (compute capability {major}.{minor}) does not compute"
            " in bfloat16; set precision to float32, which takes twice the memory, or to auto, or use a card"
            " of capability 8.0 or more"
        )
    for setting, said, value in (("optimizer", optimizer, optimizer), ("liger", "true", liger)):
        package = needed_package(setting, value)
        if package and not cuda:
            yield (
                f"{setting}: {said} runs on a CUDA device only, and there is none; set another, or run it"
                " where there is one"
            )
        elif package and not find_spec(package):
            yield (
                f"{setting}: {said} needs the package {package}, which is not installed:"
                f" {how_to_install(package)}"
            )


def vllm_problems(tensor_parallel: int, processes: int) -> Iterator[str]:
    """Yield what GRPO with vLLM asks of this machine in vain. processes: of the training, one on each GPU."""
    if not torch.cuda.is_available():
        yield (
            "vllm: true runs on a CUDA device only, and there is none; set it to false, or run it where there"
            " is one"
        )
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
