"""What a job ran on, as a line of its log. No clock, and not the machine's name."""

import os
import platform
import re
from pathlib import Path

from polyreward.ops.machine import memory_mb

RAN_ON = "ran on: "  # begins that line
INSTRUCTIONS = {"avx512f": "AVX-512", "avx2": "AVX2"}  # the widest first; numbers are rounded by them


def hardware(root: Path = Path("/")) -> str:
    """Return this machine's processor, its instructions, cores that this process may use, memory and NVIDIA
    GPUs.

    root: of the file system, for tests."""
    facts = _text(root / "proc/cpuinfo")
    name = re.search(r"^model name\s*: *(.+)$", facts, re.MULTILINE)
    flags = re.search(r"^flags\s*: *(.+)$", facts, re.MULTILINE)
    known = set(flags[1].split()) if flags else set()
    widest = next((words for flag, words in INSTRUCTIONS.items() if flag in known), None)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpus = [_text(path) for path in sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))]
    models = [
        found[1].strip()
        for found in (re.search(r"^Model:(.+)$", text, re.MULTILINE) for text in gpus)
        if found
    ]
    parts = [
        name[1].strip() if name else platform.machine(),
        widest,
        f"{cores} cores",
        f"{memory_mb() / 1e3:.0f} GB of memory",
    ]
    return ", ".join([part for part in parts if part] + models)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # another system
        return ""
