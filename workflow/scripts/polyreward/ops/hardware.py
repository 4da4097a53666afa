"""What a job ran on, as a line of its log. No clock, and not the machine's name."""

import os
import platform
import re
from pathlib import Path

from polyreward.ops.machine import memory_mb

INSTRUCTIONS = {"avx512f": "AVX-512", "avx2": "AVX2"}  # the widest first; numbers are rounded by them


def hardware(root: Path = Path("/")) -> str:
    """Return the processor, its instructions, cores that this process may use, memory and NVIDIA GPUs.

    root: the file system's, another in tests."""
    processor = root / "proc/cpuinfo"
    names = _values(processor, "model name") or [platform.machine()]
    flags = " ".join(_values(processor, "flags")[:1]).split()
    widest = [words for flag, words in INSTRUCTIONS.items() if flag in flags][:1]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    counted = "1 core" if cores == 1 else f"{cores} cores"
    cards = sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))
    gpus = [model for path in cards for model in _values(path, "Model")]
    return ", ".join([names[0], *widest, counted, f"{memory_mb() / 1e3:.0f} GB of memory", *gpus])


def _values(path: Path, key: str) -> list[str]:
    """Return what follows each `key:` in a file; nothing on a system without the file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return re.findall(rf"^{key}[ \t]*:[ \t]*(.*\S)", text, re.MULTILINE)
