"""The portable mode holds every numerical library of a job to AVX2."""

import json
import os
import subprocess
import sys

import pytest
from support import checkout, snakemake

from polyreward.ops.machine import PORTABLE

JOB = """
import json, numpy, torch
from numpy._core._multiarray_umath import __cpu_features__
print(json.dumps({"torch": torch.backends.cpu.get_cpu_capability(), "numpy": __cpu_features__["X86_V4"]}))
"""


@pytest.mark.parametrize("portable", [False, True])
def test_a_portable_process_uses_nothing_newer_than_avx2(portable):
    environment = {**os.environ, **(PORTABLE if portable else {})}
    used = json.loads(subprocess.check_output([sys.executable, "-c", JOB], env=environment))
    if portable:
        assert used == {"torch": "AVX2", "numpy": False}
    elif used["torch"] == "AVX2":
        pytest.skip("this processor has nothing newer than AVX2")
    else:
        assert used["torch"].startswith("AVX512")


@pytest.mark.parametrize("portable", [False, True])
def test_jobs_of_a_portable_run_have_its_variables_whatever_the_machine_sets(tmp_path, monkeypatch, portable):
    machine = {"OPENBLAS_CORETYPE": "Nehalem", "MKL_CBWR": "AUTO"}
    for name, value in machine.items():
        monkeypatch.setenv(name, value)
    folder = checkout(tmp_path)
    with open(folder / "Snakefile", "a", encoding="utf-8") as stream:
        stream.write('\n\nrule environment:\n    output: "environment.txt"\n    shell: "env > {output}"\n')
    ran = snakemake("--cores", "1", "environment", "--config", f"portable={portable}", cwd=folder)
    assert ran.returncode == 0, ran.stdout
    lines = (folder / "environment.txt").read_text(encoding="utf-8").splitlines()
    found = dict(line.partition("=")[::2] for line in lines)
    assert {name: found[name] for name in PORTABLE if name in found} == (PORTABLE if portable else machine)
