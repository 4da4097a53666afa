"""Run a rule's script: its log, its GPUs, and by hand without Snakemake."""

import argparse
import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from polyreward.core.files import remove_unfinished
from polyreward.core.logs import ASKED, RAN_ON, report, start_log
from polyreward.ops.folder_lock import join_folder
from polyreward.ops.hardware import hardware
from polyreward.ops.machine import take_gpus

# A launcher of several processes sets these, maybe around Snakemake. PyTorch would wait for the others.
LAUNCHED = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


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
    """Join the folder's lock, start a job's log, and show it its GPUs, which CUDA must not have seen yet."""
    join_folder()
    sys.excepthook = report
    for name in LAUNCHED:
        os.environ.pop(name, None)
    start_log(snakemake.log[0])
    for path in snakemake.output:
        remove_unfinished(path)
    asked = {name: snakemake.resources.get(name) for name in ("mem_mb", "gpu")}
    print(ASKED + " ".join(f"{name}={value}" for name, value in asked.items() if value is not None))
    print(RAN_ON + hardware())
    take_gpus(asked["gpu"] or 0)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
