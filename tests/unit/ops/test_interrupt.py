"""Ctrl-C ends a run of Snakemake within seconds, also where its jobs ignore it, and leaves no lock."""

import os
import signal
import subprocess
import sys
import time

import pytest

SNAKEFILE = """
from polyreward.ops import workflow as ours

ours.GRACE_S = 0.5

onstart:
    ours.end_jobs_on_interrupt(workflow)

rule long:
    output:
        "made",
    log:
        "long.log",
    benchmark:
        "results/benchmarks/long/all.tsv",
    script:
        "long.py"
"""
# Two jobs, each with a child: one ignores SIGINT, the other also SIGTERM
DEAF = "import os, signal, subprocess, sys, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
JOBS = {"deaf": DEAF, "deaf to both": DEAF + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"}
WORK = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("made", "w").write("half")
open("pids", "w").write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""


def there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
        return stream.read().rpartition(")")[2].split()[0] != "Z"


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize("job", JOBS)
def test_an_interrupted_run_ends_with_its_jobs_and_frees_the_lock(tmp_path, job):
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / "long.py").write_text(JOBS[job] + WORK, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # as in a terminal
    environment = {name: value for name, value in os.environ.items() if name != "POLYREWARD_LOG"}
    with open(tmp_path / "screen", "w", encoding="utf-8") as screen:
        shown = {"stdout": screen, "stderr": screen, "env": environment}
        logged = [*command, "--logger", "polyreward"]
        run = subprocess.Popen(logged, cwd=tmp_path, start_new_session=True, **shown, **heard)
    wait_for(lambda: (tmp_path / "pids").exists() and " " in (tmp_path / "pids").read_text())
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(map(there, pids))
    start = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.wait(60)
    assert time.monotonic() - start < 20
    assert run.returncode not in (0, None)
    assert not any(map(there, pids))
    said = (tmp_path / "screen").read_text(encoding="utf-8")
    assert said.splitlines()[-1].startswith("stopped by you after ")
    assert ": 0 of 1 job done. The same command resumes." in said and "failed" not in said
    assert list((tmp_path / ".snakemake/locks").glob("*")) == []
    # What is half made is not taken for up to date: it is known as such, or gone where Snakemake saw its job
    # fail in time.
    if (tmp_path / "made").exists():
        ran = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=60)
        assert "IncompleteFilesException" in ran.stdout + ran.stderr
