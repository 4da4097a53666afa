"""The portable mode holds every numerical library of a job to AVX2."""

import json
import subprocess
import sys

import pytest

JOB = """
import sys
from types import SimpleNamespace
from polyreward.ops.jobs import start_job
start_job(SimpleNamespace(log=["job.log"], resources={}, threads=1, params={"portable": sys.argv[1] == "True"}))
import json, numpy, torch
from numpy._core._multiarray_umath import __cpu_features__
used = {"torch": torch.backends.cpu.get_cpu_capability(), "numpy": __cpu_features__["X86_V4"]}
json.dump(used, open("used.json", "w"))
"""


@pytest.mark.parametrize("portable", [False, True])
def test_a_portable_job_uses_nothing_newer_than_avx2(tmp_path, portable):
    ran = subprocess.run(
        [sys.executable, "-c", JOB, str(portable)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr + (tmp_path / "job.log").read_text()
    used = json.loads((tmp_path / "used.json").read_text())
    if portable:
        assert used == {"torch": "AVX2", "numpy": False}
    elif used["torch"] == "AVX2":
        pytest.skip("this processor has nothing newer than AVX2")
    else:
        assert used["torch"].startswith("AVX512")
