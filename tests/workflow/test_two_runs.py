"""Two makes at once in one folder, and a make after one that was killed: on a workflow of one slow rule."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ROOT

SNAKEFILE = """
rule slow:
    output: "results/out"
    shell: "touch started; while [ ! -e go ]; do sleep 0.05; done; echo whole > {output}"
"""
# The environment is there, wherever it is.
MAKE = ["make", "-f", ROOT / "Makefile", "-o", ".venv/ready", f"BIN={Path(sys.executable).parent}", "CORES=1"]


@pytest.mark.slow
def test_a_second_make_does_no_harm_and_one_after_a_kill_goes_on(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command, quiet = [*MAKE, "results/out"], subprocess.DEVNULL

    def ran():
        return subprocess.run(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    first = subprocess.Popen(command, cwd=tmp_path, stdout=quiet, stderr=quiet, start_new_session=True)
    while not (tmp_path / "started").exists():
        assert first.poll() is None
        time.sleep(0.02)
    second = ran()
    assert second.returncode != 0
    assert "another make runs Snakemake in this folder; wait until it ends" in second.stdout
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    third = ran()
    assert third.returncode == 0, third.stdout
    assert (tmp_path / "results/out").read_text() == "whole\n"
