"""This machine's memory and GPUs, and how many jobs they hold at a time; a cluster limits its own."""

import fcntl
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

NAMES = {"mem_mb": "MB of memory", "gpu": "GPUs"}
# Hold PyTorch, oneDNN, MKL, OpenBLAS and NumPy to AVX2. Each reads its own when it is loaded.
PORTABLE = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}
TABLE_MB = 600  # of a job without a model: pandas, scikit-learn or matplotlib, and mini's tables; at most 549


def memory_mb(root: Path = Path("/")) -> int:
    """Return the physical memory in MB, or the limit of this process's control group, where that is lower.

    root: the file system's, another in tests."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    groups = root / "proc/self/cgroup"
    for line in groups.read_text(encoding="ascii").splitlines() if groups.is_file() else []:
        _, controllers, group = line.split(":", 2)
        mount, name = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        folder = root / "sys/fs/cgroup" / mount / group.lstrip("/")
        # A container's group may be named as the host sees it; then its files lie at the mount.
        for file in (place / name for place in (folder, *folder.parents)):
            if file.is_file() and (limit := file.read_text(encoding="ascii").strip()).isdecimal():
                limits.append(int(limit))
    return min(limits) // 10**6


def cuda_devices(root: Path = Path("/")) -> int:
    """Return how many GPUs PyTorch may use here, all or CUDA_VISIBLE_DEVICES', without importing it.

    root: the file system's, another in tests."""
    if not _torch_has_gpu_build():
        return 0
    found = sum(path.name[6:].isdecimal() for path in (root / "dev").glob("nvidia[0-9]*"))
    if not found and (root / "dev/kfd").exists():  # AMD: a CPU's node has 0
        nodes = (root / "sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id")
        found = sum(path.read_text(encoding="ascii").strip() not in ("", "0") for path in nodes) or 1
    found = found or int((root / "dev/dxg").exists())  # Windows' through WSL
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return found
    named = [name.strip() for name in visible.split(",") if name.strip()]
    return min(found, named.index("-1") if "-1" in named else len(named))  # CUDA ignores what follows -1


def gpu_gib() -> float | None:
    """Return the memory in GiB of the smallest GPU, as nvidia-smi has it; None where it has none."""
    try:
        return min(map(float, _nvidia_smi("memory.total"))) / 1024
    except ValueError:  # no line, or no number
        return None


def gpu_name() -> str | None:
    """Return the first GPU's name, as nvidia-smi has it; None where it has none."""
    return next(iter(_nvidia_smi("name")), None)


def _nvidia_smi(field: str) -> list[str]:
    """Return a field of each GPU; nothing without GPUs, with another maker's, or without such a tool."""
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    if not cuda_devices():
        return []
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []


def _torch_has_gpu_build() -> bool:
    """Return whether PyTorch is built for GPUs; true without it, as jobs may have their own environments."""
    found = find_spec("torch")
    for folder in (found and found.submodule_search_locations) or []:
        version = Path(folder, "version.py")
        if version.is_file():
            text = version.read_text(encoding="utf-8")
            return bool(re.search(r"^(?:cuda|hip)\b[^=\n]*= *['\"]", text, re.MULTILINE))
    return True


def available() -> dict[str, int]:
    """Return {resource: what jobs get}: all GPUs, and the memory but a tenth.

    Of memory at least 1.5 GB are kept, and at most half."""
    memory = memory_mb()
    return {"mem_mb": memory - min(max(1500, memory // 10), memory // 2), "gpu": cuda_devices()}


def take_gpus(count: int) -> None:
    """Show this process `count` CUDA devices that no other job here has; call it before importing torch.

    Does nothing on a cluster, which does that itself, and where a job takes all devices or fewer are free.
    """
    found = cuda_devices()
    if not 0 < count < found or "SLURM_JOB_ID" in os.environ:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",")[:found] if visible else map(str, range(found))
    taken = _locked([name.strip() for name in names], count)
    if taken:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(taken)


def _locked(names: Sequence[str], count: int) -> list[str]:
    """Return `count` of the devices, locked until this process ends; none where so many are not free."""
    folder = Path(tempfile.gettempdir(), f"polyreward-gpus-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    taken = {}
    for name in names:
        file = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        taken[name] = file  # stays open: that is the lock
        if len(taken) == count:
            return list(taken)
    for file in taken.values():
        os.close(file)
    return []
