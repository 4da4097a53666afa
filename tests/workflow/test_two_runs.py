"""Two runs at once in one folder, and a run after one that was killed: on a workflow of one slow rule."""

import os
import signal
import subprocess
import sys
import time

import pytest
from support import ROOT

SNAKEFILE = f"""
import sys
sys.path.insert(0, {str(ROOT / "workflow/scripts")!r})
from polyreward.ops.alone import hold_folder
hold_folder()

rule slow:
    output: "results/out"
    shell: "mkdir -p results/.out.abcd1234; touch started; while [ ! -e go ]; do sleep 0.05; done; echo whole > {{output}}"
"""
COMMAND = [sys.executable, "-m", "snakemake", "--cores", "1", "--rerun-incomplete"]


def started(folder):
    """Start a run and wait until its job works."""
    run = subprocess.Popen(
        COMMAND, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not (folder / "started").exists():
        assert run.poll() is None
        time.sleep(0.02)
    return run


@pytest.mark.slow
def test_a_second_run_waits_for_no_kill_and_does_no_harm(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    first = started(tmp_path)
    second = subprocess.run(
        COMMAND, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert second.returncode != 0
    assert "Directory cannot be locked" in second.stdout
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    third = subprocess.run(COMMAND, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert third.returncode == 0, third.stdout
    assert (tmp_path / "results/out").read_text() == "whole\n"
