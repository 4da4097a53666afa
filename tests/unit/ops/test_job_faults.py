"""A disk or memory that runs out in a job: words on the terminal and in its log, and nothing half made."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import report
from polyreward.core.seals import METADATA, sealed_file, sealed_folder
from polyreward.core.tables import write_sealed

SCORES = pd.DataFrame(
    {"id": [str(number) for number in range(30_000)], "score": np.random.default_rng(1).normal(size=30_000)}
)
WEIGHTS = {"weight": np.ones((400, 400), dtype=np.float32)}


def write_states(path):
    with sealed_file(path) as temporary:
        save_file(WEIGHTS, temporary, METADATA)


def write_model(path):
    with sealed_folder(path) as folder:
        save_file(WEIGHTS, folder / "model.safetensors")


WRITERS = {"scores": lambda path: write_sealed(SCORES, path), "states": write_states, "a model": write_model}


@pytest.mark.parametrize("what", WRITERS)
def test_what_a_full_disk_cuts_off_is_not_there_and_a_read_only_one_is_said(small_disk, what):
    with pytest.raises(PolyrewardError, match="not written, No space left on device; free some space"):
        WRITERS[what](small_disk / "work/of-a-job")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(PolyrewardError, match="not written, Read-only file system"):
        WRITERS[what](small_disk / "work/of-a-job")
    assert list((small_disk / "work").iterdir()) == []


JOB = """
import resource, sys
from types import SimpleNamespace
from polyreward.ops.jobs import start_job
start_job(SimpleNamespace(log=["job.log"], output=[], resources={}, threads=1, params={}))
from polyreward.core.files import whole_file
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
with whole_file("scores.parquet") as temporary:
    temporary.write_bytes(b"half")
    bytearray(2**31)
"""


def test_a_job_whose_memory_runs_out_says_so_and_leaves_nothing(tmp_path):
    ran = subprocess.run([sys.executable, "-c", JOB], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "polyreward: memory ran out. Run fewer jobs at a time" in ran.stderr
    assert "polyreward: memory ran out." in (tmp_path / "job.log").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.log"]


@pytest.mark.parametrize("error", [
    RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried 8"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    OSError(12, "Cannot allocate memory"),
], ids=["PyTorch", "CUDA", "the system"])  # fmt: skip
def test_memory_that_runs_out_is_known_by_each_library_s_words(capsys, error):
    report(type(error), error, None)
    assert "polyreward: memory ran out." in capsys.readouterr().err
