"""Two runs at once in one folder, and a run after one that was killed, by make and by plain Snakemake: on a
workflow of one slow rule with the project's profile, and once on the project's own Snakefile."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ROOT, TINY, checkout, snakemake

SNAKEFILE = """
from polyreward.ops.folder_lock import hold_folder

onstart:
    hold_folder()

rule slow:
    output: "results/out"
    log: "log"
    script: "slow.py"
"""
# A job that waits until it may go on, for at most two minutes
JOB = """
import os, time
from pathlib import Path
from polyreward.ops.jobs import run

def main(snakemake):
    with open("started", "a") as stream:
        stream.write(f"{os.getpid()} ")
    until = time.monotonic() + 120
    while not Path("go").exists() and time.monotonic() < until:
        time.sleep(0.02)
    Path(snakemake.output[0]).write_text("whole")

run(main, snakemake)
"""
BIN = Path(sys.executable).parent
COMMANDS = {
    # The environment is there, wherever it is.
    "make": ["make", "-f", ROOT / "Makefile", "-o", ".venv/ready", f"BIN={BIN}", "CORES=1", "results/out"],
    "snakemake": [BIN / "snakemake", "--cores", "1", "results/out"],
}


@pytest.fixture
def folder(tmp_path):
    """A project of one slow rule; what still runs there in the end is killed."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "slow.py").write_text(JOB)
    (tmp_path / "config.yaml").write_text("results: results\n")
    (tmp_path / "profiles").symlink_to(ROOT / "workflow/profiles")
    yield tmp_path
    (tmp_path / "go").touch()


def started_in(folder, command):
    """Start a run, and return it once its job works."""
    quiet = subprocess.DEVNULL
    run = subprocess.Popen(COMMANDS[command], cwd=folder, stdout=quiet, stderr=quiet, start_new_session=True)
    while not jobs(folder):
        assert run.poll() is None
        time.sleep(0.02)
    return run


def ran_in(folder, command):
    """Run to the end."""
    return subprocess.run(
        COMMANDS[command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def jobs(folder):
    """Return the numbers of the processes of all jobs so far."""
    return (folder / "started").read_text().split() if (folder / "started").exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("second", COMMANDS)
@pytest.mark.parametrize("first", COMMANDS)
def test_a_second_run_does_no_harm_and_one_after_a_kill_goes_on(folder, first, second):
    begun = started_in(folder, first)
    refused = ran_in(folder, second)
    assert refused.returncode != 0
    assert f"{folder}: another run works in this folder. Wait until it ends, or end it" in refused.stdout
    (number,) = re.findall(r"\(`kill -INT (\d+)`\)", refused.stdout)
    assert Path(f"/proc/{number}/cwd").readlink() == folder
    assert len(jobs(folder)) == 1
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    (folder / "go").touch()
    again = ran_in(folder, second)
    assert again.returncode == 0, again.stdout
    assert (folder / "results/out").read_text() == "whole"
    assert len(jobs(folder)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("second", COMMANDS)
def test_a_job_that_a_killed_run_left_is_named_and_waited_for(folder, second):
    begun = started_in(folder, "snakemake")
    begun.kill()
    begun.wait()
    refused = ran_in(folder, second)
    (job,) = jobs(folder)
    assert refused.returncode != 0
    assert f"{folder}: jobs of a killed run still work in this folder" in refused.stdout
    assert f"(`kill {job}`)" in refused.stdout
    subprocess.run(["kill", job], check=True)
    (folder / "go").touch()
    again = ran_in(folder, second)
    assert again.returncode == 0, again.stdout
    assert (folder / "results/out").read_text() == "whole"


def test_the_project_runs_only_where_no_other_run_is_and_plans_in_any_case(tmp_path):
    here = checkout(tmp_path / "polyreward")
    (here / ".snakemake").mkdir()
    target = "results/tiny/work/1_sources/data/mini-twins.jsonl"
    run = ["--cores", "1", target, "--configfile", TINY]
    with open(here / ".snakemake/polyreward.run.lock", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        refused = snakemake(*run, cwd=here)
        assert refused.returncode == 1 and "another run works in this folder" in refused.stdout
        assert not (here / target).exists()
        for options in ("-n", "--unlock", "--lint"):
            assert "another run" not in (ran := snakemake(options, *run, cwd=here)).stdout
            assert ran.returncode == 0, ran.stdout
    ran = snakemake(*run, cwd=here)
    assert ran.returncode == 0, ran.stdout
    assert (here / target).exists() and not list((here / ".snakemake/locks").iterdir())
