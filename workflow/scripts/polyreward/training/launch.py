"""One training, in this process or in several that `accelerate launch` starts."""

import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import torch
import yaml

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.logs import MARK, announce, mark_announcements, report
from polyreward.core.processes import is_main
from polyreward.training.common import Job

PACKAGES = Path(__file__).parents[2]
# How torch's launcher sums up a process that failed; the one that it takes for the cause comes last.
FAILURE = re.compile(r"^ *rank *: (\d+) .*\n *exitcode *: (-?\d+)", re.MULTILINE)
# What C++, the C library and Python write before they abort a process.
LAST_WORDS = re.compile(r"^.*(?:terminate called|what\(\):|Fatal Python error|\w\(\): \w+ ).*$", re.MULTILINE)


def train(function: Callable, launch: dict | None, job: Job, **arguments) -> None:
    """Call a training function of a module's top level: here, or in the processes that `launch` describes.

    launch: a configuration of accelerate (see workflow/accelerate/), or None. Raises PolyrewardError where a
    process fails."""
    if launch is None:
        function(job=job, **arguments)
        return
    raise_all(_missing(launch), f"{job.label}: what devices.launch asks of this machine")
    with tempfile.TemporaryDirectory(prefix="polyreward-") as folder:
        config, work = Path(folder, "accelerate.yaml"), Path(folder, "work.pickle")
        config.write_text(yaml.safe_dump(launch), encoding="utf-8")
        work.write_bytes(pickle.dumps((function, {**arguments, "job": job})))
        _run(config, work, launch["num_processes"], job.label)


def train_job(function: Callable, snakemake, label: str, **arguments) -> None:
    """Call `train` for Snakemake's job, with the seed, the settings and the folders that it has."""
    params, given = snakemake.params, dict(snakemake.params.training)
    how = {name: given.pop(name) for name in ("precision", "liger") if name in given}
    job = Job(params.seed, params.checkpoints, snakemake.output[0], label, **how)
    train(function, params.launch, job, **given, **arguments)


def _missing(launch: dict) -> Iterator[str]:
    if launch["distributed_type"] == "DEEPSPEED" and not find_spec("deepspeed"):
        yield "it needs the package deepspeed, which is not installed: pip install -e '.[cuda]'"
    wanted, found = launch["num_processes"], torch.cuda.device_count()
    if found < wanted and not launch.get("use_cpu"):
        yield (
            f"it wants {wanted} CUDA devices, and there are {found}. Take a machine that has them. Or lower"
            " num_processes in its file, and raise gradient_accumulation as much, to keep the batch. Or set"
            " devices.launch to null for one process"
        )


def _run(config: Path, work: Path, processes: int, label: str) -> None:
    launcher = ["-m", "accelerate.commands.launch", "--config_file", str(config), "--main_process_port", "0"]
    command = [sys.executable, *launcher, "-m", "polyreward.training.launch", str(work)]
    threads = max(1, int(os.environ.get("OMP_NUM_THREADS", processes)) // processes)
    path = os.pathsep.join([str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads)}
    how = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=environment, **how) as process:
        last = deque(maxlen=200)
        try:
            for line in process.stdout:
                if line.startswith(MARK):
                    announce(line.removeprefix(MARK).rstrip("\n"))
                else:
                    sys.stderr.write(line)
                    last.append(line)
        except BaseException:
            process.terminate()  # its processes with it
            raise
    if process.returncode:
        raise PolyrewardError(
            f"{label}: {_end(last, process.returncode, processes)}. The next start goes on from the last"
            " whole checkpoint, if there is one"
        )


def _end(last: deque, code: int, processes: int) -> str:
    failures = [(int(rank), int(code)) for rank, code in FAILURE.findall("".join(last))]
    if not failures:
        return f"`accelerate launch` ended with exit code {code}; the lines before this one say why"
    # Where one is killed the others fail, and maybe sooner than the launcher looks; the launcher itself ends
    # them by SIGTERM.
    killed = [failure for failure in failures if failure[1] < 0 and failure[1] != -signal.SIGTERM]
    rank, code = (killed or failures)[-1]
    how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit code {code}"
    words = LAST_WORDS.findall("".join(last)) if code == -signal.SIGABRT else []
    how += f" after {' '.join(words)!r}" if words else ""
    memory = "; SIGKILL often means that memory ran out" if code == -signal.SIGKILL else ""
    return f"process {rank} of {processes} (they count from 0) {how}, and the others were stopped{memory}"


def main() -> None:
    """Call the function that a file holds with its arguments, in each process that accelerate launches."""
    mark_announcements()
    level = logging.INFO if is_main() else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    try:
        function, arguments = pickle.loads(Path(sys.argv[1]).read_bytes())
        function(**arguments)
        if torch.distributed.is_initialized():
            torch.distributed.barrier()
            torch.distributed.destroy_process_group()
    except Exception:
        # torch would write the number of the process before each line of an excepthook, and hide the marks.
        report(*sys.exc_info())
        sys.exit(1)
    sys.stdout.flush()
    sys.stderr.flush()
    # The training is done. Threads of torch that outlive Python's own end abort the process now and then.
    os._exit(0)


if __name__ == "__main__":
    main()
