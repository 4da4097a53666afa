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
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1", "--rerun-incomplete"]


def started(command, folder):
    """Start a run and wait until its job works."""
    run = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not (folder / "started").exists():
        assert run.poll() is None
        time.sleep(0.02)
    return run


def ran(command, folder):
    return subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.mark.slow
def test_a_second_make_does_no_harm_and_one_after_a_kill_goes_on(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [*MAKE, "results/out"]
    first = started(command, tmp_path)
    second = ran(command, tmp_path)
    assert second.returncode != 0
    assert "another make runs Snakemake in this folder; wait until it ends" in second.stdout
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    third = ran(command, tmp_path)
    assert third.returncode == 0, third.stdout
    assert (tmp_path / "results/out").read_text() == "whole\n"


@pytest.mark.slow
def test_plain_snakemake_asks_for_its_own_lock_after_a_kill(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    first = started(SNAKEMAKE, tmp_path)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    assert "--unlock" in ran(SNAKEMAKE, tmp_path).stdout
    assert ran([*SNAKEMAKE, "--unlock"], tmp_path).returncode == 0
    assert ran(SNAKEMAKE, tmp_path).returncode == 0
    assert (tmp_path / "results/out").read_text() == "whole\n"
