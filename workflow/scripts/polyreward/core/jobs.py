"""The start of every job: its log, its threads, and how its failure is told."""

import errno
import os
import sys
import traceback

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce, start_log
from polyreward.core.machine import take_gpus
from polyreward.core.processes import is_main, rank

ASKED = "asked for: "  # begins a job's log, from which `polyreward costs` reads it
# As every library words them, whatever exception it raises
FULL_DISK = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))


def start_job(snakemake) -> None:
    """Start a rule's log, and hold the numerical libraries to the rule's threads and GPUs; call it before importing them."""
    start_log(snakemake.log[0])
    asked = {name: snakemake.resources.get(name) for name in ("mem_mb", "gpu")}
    print(ASKED + " ".join(f"{name}={value}" for name, value in asked.items() if value is not None))
    take_gpus(asked["gpu"] or 0)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(snakemake.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sys.excepthook = tell


def tell(kind, error, trace) -> None:
    """Print user errors as text, other errors with a traceback, a full disk with both; to the log and the terminal.

    Of several processes that train together those beside the main one tell the log alone."""
    users = isinstance(error, PolyrewardError)
    text = f"\npolyreward: {error}\n" if users else "".join(traceback.format_exception(kind, error, trace))
    if not users and any(words in str(error) for words in FULL_DISK):
        text += "\npolyreward: a disk is full, or your share of it. Free some and run again: what is finished is kept.\n"
    announce(text) if is_main() else print(f"process {rank()}: {text.strip()}", file=sys.stderr)
