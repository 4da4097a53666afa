"""What settings of a training ask of this machine's device and its packages."""

from collections.abc import Iterator
from importlib.util import find_spec

import torch

from polyreward.models.cuda import cuda_only


def device_problems(precision: str, optimizer: str, liger: bool) -> Iterator[str]:
    """Yield what settings of a training ask of this machine in vain. precision: float32 or bfloat16."""
    cuda = torch.cuda.is_available()
    if precision == "bfloat16" and cuda and not torch.cuda.is_bf16_supported(including_emulation=False):
        major, minor = torch.cuda.get_device_capability()
        yield (
            f"precision: {torch.cuda.get_device_name()} (compute capability {major}.{minor}) does not compute in bfloat16; set "
            "precision to float32, which takes twice the memory, or to auto, or use a card of capability 8.0 or more"
        )
    for setting, asked, package in (
        (f"optimizer: {optimizer}", cuda_only("optimizer", optimizer), "bitsandbytes"),
        ("liger: true", liger, "liger_kernel"),
    ):
        if asked and not cuda:
            yield f"{setting} runs on a CUDA device only, and there is none; set another, or run it where there is one"
        elif asked and not find_spec(package):
            yield f"{setting} needs the package {package}, which is not installed: pip install -e '.[cuda]'"
