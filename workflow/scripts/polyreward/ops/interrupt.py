"""Ctrl-C ends a run on this machine within seconds: Snakemake by itself waits until the jobs that run have
ended."""

import os
import signal
from types import FrameType

import psutil

GRACE_S = 5  # until what did not end when it was told to is killed


def end_jobs_on_interrupt(workflow) -> None:
    """From now on end all jobs when the run is interrupted (SIGINT); for `onstart`, where jobs run on this
    machine.

    Snakemake then takes its lock away; what they left half made it knows as incomplete."""
    if workflow.executor_plugin.name != "local":
        return  # its executor cancels jobs itself
    before = signal.getsignal(signal.SIGINT)

    def end_jobs(number: int, frame: FrameType | None) -> None:
        end_children()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, end_jobs)


def end_children() -> None:
    """End all processes that this one started, and theirs: by SIGTERM, and by SIGKILL what is still there
    after GRACE_S."""
    children = psutil.Process(os.getpid()).children(recursive=True)
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for child in children:
            try:
                end(child)
            except psutil.NoSuchProcess:
                continue
        children = psutil.wait_procs(children, timeout=GRACE_S)[1]
