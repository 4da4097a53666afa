"""The start of every job: its log, its threads, and how its failure is reported."""

import errno
import os
import sys
import traceback

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce, start_log
from polyreward.core.processes import is_main, rank
from polyreward.ops.alone import hold_job
from polyreward.ops.hardware import RAN_ON, hardware
from polyreward.ops.machine import take_gpus

ASKED = "asked for: "  # begins a job's log, from which `polyreward costs` reads it
# Hold PyTorch, oneDNN, MKL, OpenBLAS and NumPy to AVX2; each reads its own when it is first used.
PORTABLE = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}
# As every library words them, whatever exception it raises
FULL_DISK = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
NO_MEMORY = (
    os.strerror(errno.ENOMEM),
    "can't allocate memory",
    "out of memory",
)  # the system's, PyTorch's on a CPU, CUDA's


def start_job(snakemake) -> None:
    """Start a rule's log, and hold the numerical libraries to the rule's threads and GPUs; call it before
    importing them."""
    sys.excepthook = tell
    hold_job(snakemake.log[0])
    start_log(snakemake.log[0])
    asked = {name: snakemake.resources.get(name) for name in ("mem_mb", "gpu")}
    print(ASKED + " ".join(f"{name}={value}" for name, value in asked.items() if value is not None))
    print(RAN_ON + hardware())
    take_gpus(asked["gpu"] or 0)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(snakemake.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if snakemake.params.get("portable"):
        os.environ.update(PORTABLE)


def tell(kind, error, trace) -> None:
    """Print user errors as text, others with a traceback, a full disk or memory with both; to the log and the
    terminal.

    Of several processes that train together the others write to the log alone."""
    users = isinstance(error, PolyrewardError)
    text = f"\npolyreward: {error}\n" if users else "".join(traceback.format_exception(kind, error, trace))
    if not users and any(words in str(error) for words in FULL_DISK):
        text += (
            "\npolyreward: a disk is full, or your share of it. Free some and run again: what is finished is"
            " kept.\n"
        )
    if not users and (isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY)):
        text += (
            "\npolyreward: memory ran out. Run fewer jobs at a time (`make CORES=1`, or `MEM_MB=` less), or"
            " lower what a job takes at once (scoring.token_budget; a training's batch_size), and run again:"
            " what is finished is kept.\n"
        )
    announce(text) if is_main() else print(f"process {rank()}: {text.strip()}", file=sys.stderr)
