"""Run a rule's script: its log, its GPUs, how its failure is reported, and by hand without Snakemake."""

import argparse
import errno
import logging
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from polyreward.core.errors import PolyrewardError, lacks_memory
from polyreward.core.files import remove_unfinished
from polyreward.core.logs import announce, start_log
from polyreward.core.processes import is_main, rank
from polyreward.ops.hardware import RAN_ON, hardware
from polyreward.ops.machine import take_gpus

ASKED = "asked for: "  # begins a job's log, from which `polyreward costs` reads it
# Hold PyTorch, oneDNN, MKL, OpenBLAS and NumPy to AVX2. Each reads its own when it is loaded.
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


def run(main: Callable, snakemake=None) -> None:
    """Run a script's `main`: in a job of Snakemake's, or by hand for the job that the command line names.

    main: takes Snakemake's object. snakemake: that object; None by hand, where you set OMP_NUM_THREADS
    yourself.
    """
    if snakemake is None:
        sys.excepthook = report
        snakemake = _job_by_hand(main)
        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    else:
        start_job(snakemake)
    main(snakemake)


def _job_by_hand(main: Callable):
    script = Path(main.__globals__["__file__"]).resolve()
    parser = argparse.ArgumentParser(
        description=main.__globals__["__doc__"],
        epilog="Run it in the project's folder. Its inputs must be there; outputs are overwritten.",
    )
    parser.add_argument("--rule", help=f"rule to take inputs and params from (default: {script.stem})")
    parser.add_argument("--wildcards", nargs="+", default=[], metavar="KEY=VALUE", help="the job's wildcards")
    parser.add_argument(
        "--configfile", nargs="+", default=[], type=Path, help="overlays, such as workflow/scales/tiny.yaml"
    )
    given = parser.parse_args()
    bad = [text for text in given.wildcards if "=" not in text]
    if bad:
        parser.error(f"--wildcards {bad[0]}: write KEY=VALUE, such as model=gemma-3-270m_en")
    for path in given.configfile:
        if not path.is_file():
            parser.error(f"--configfile {path}: no such file; workflow/scales/ holds the scales'")
    wildcards = dict(text.split("=", 1) for text in given.wildcards)
    # By name: code that no job of Snakemake's runs is not in the hash of its code.
    workflow = import_module("polyreward.ops.workflow")
    return workflow.mock_snakemake(script, given.rule, wildcards, given.configfile)


def start_job(snakemake) -> None:
    """Start a job's log, and show it its GPUs, which CUDA must not have seen yet."""
    sys.excepthook = report
    start_log(snakemake.log[0])
    for path in snakemake.output:
        remove_unfinished(path)
    asked = {name: snakemake.resources.get(name) for name in ("mem_mb", "gpu")}
    print(ASKED + " ".join(f"{name}={value}" for name, value in asked.items() if value is not None))
    print(RAN_ON + hardware())
    take_gpus(asked["gpu"] or 0)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def report(kind, error, trace) -> None:
    """Print user errors as text, others with a traceback, a full disk or memory with both."""
    if isinstance(error, PolyrewardError):
        text = f"\npolyreward: {error}\n"
    else:
        text = "".join(traceback.format_exception(kind, error, trace))
        if any(words in str(error) for words in FULL_DISK):
            text += (
                "\npolyreward: a disk is full, or your share of it. Free some and run again: what is finished"
                " is kept.\n"
            )
        if lacks_memory(error):
            text += (
                "\npolyreward: memory ran out. Run fewer jobs at a time (`make CORES=1`, or `MEM_MB=` less),"
                " or lower what a job takes at once (scoring.token_budget; a training's batch_size), and run"
                " again: what is finished is kept.\n"
            )
    announce(text) if is_main() else print(f"process {rank()}: {text.strip()}", file=sys.stderr)
