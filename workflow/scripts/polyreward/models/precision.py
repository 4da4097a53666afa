"""What models compute in: float32 or bfloat16, as the configuration says and the machine can."""

import functools
import logging

import torch

from polyreward.core.logs import announce

logger = logging.getLogger(__name__)
# As torch.cpu.get_capabilities names the instructions that multiply bfloat16: of x86-64, then of ARM.
INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")


def native_bfloat16() -> bool:
    """Return whether this machine multiplies bfloat16 natively: its CUDA device where there is one, else its
    processor."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    found = torch.cpu.get_capabilities()
    return any(found.get(name, False) for name in INSTRUCTIONS)


def dtype_of(precision: str) -> str:
    """Return what a job computes in, "float32" or "bfloat16", for a precision: one of these, or "auto".

    "auto" is bfloat16 where `native_bfloat16`, else float32; the log says which and why. Where bfloat16 is
    asked for and not native, a warning on the terminal says what that costs. Both are reported once per
    process."""
    if precision == "float32":
        return precision
    if precision == "auto":
        return _taken(native_bfloat16(), _device())
    if not native_bfloat16():
        _warn(_device())
    return precision


def torch_dtype(precision: str) -> torch.dtype:
    """Return dtype_of as a torch.dtype."""
    return getattr(torch, dtype_of(precision))


def _device() -> str:
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"processor ({torch.cpu.get_capabilities().get('cpu_name', 'unknown')})"


@functools.cache
def _taken(native: bool, device: str) -> str:
    taken, how = ("bfloat16", "multiplies") if native else ("float32", "does not multiply")
    logger.info("precision auto: %s, since this machine's %s %s bfloat16 natively", taken, device, how)
    return taken


@functools.cache
def _warn(device: str) -> None:
    # Measured on an Intel Xeon (Ice Lake), one core: 20 GFLOP/s in bfloat16, 73 in float32 next to other
    # work and 130 without.
    cost = (
        ""
        if torch.cuda.is_available()
        else " and takes about 4 to 6 times as long as float32 (measured on an Intel Ice Lake)"
    )
    announce(
        f"warning: this machine's {device} does not multiply bfloat16 natively: it is computed by other"
        f" instructions{cost}. Set `precision` to float32 or auto, or a model's own `dtype` to float32"
    )
