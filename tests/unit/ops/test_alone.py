"""What a killed run leaves is removed, unless somebody still works there."""

import signal
import subprocess
import sys

import pytest

from polyreward.core.errors import PolyrewardError
from polyreward.ops import alone
from polyreward.ops.alone import hold_folder, hold_job

HOLDS = "{}; print('held', flush=True); input()"
FOLDER = "from polyreward.ops.alone import hold_folder; hold_folder()"
JOB = "from polyreward.ops.alone import hold_job; hold_job('logs/job.log')"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as a run leaves it that is killed while it makes results/a.csv and the model results/b, with c
    made before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alone, "_held", [])
    (tmp_path / ".snakemake/locks").mkdir(parents=True)
    (tmp_path / ".snakemake/locks/0.input.lock").write_text("results/c\n")
    (tmp_path / ".snakemake/locks/0.output.lock").write_text("results/a.csv\nresults/b\n")
    for name in (".a.csv.abcd1234", ".b.12345678/b", ".c.abcd1234", "b.12345678", ".b.own"):
        (tmp_path / "results" / name).mkdir(parents=True)
    (tmp_path / "results/.b.12345678/b/model.safetensors").write_bytes(b"half")
    return tmp_path


def another_process(what):
    """Start a process that takes a lock and keeps it."""
    command = [sys.executable, "-c", HOLDS.format(what)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def left(folder):
    return sorted(path.name for path in (folder / "results").iterdir())


def test_a_dead_run_s_locks_and_half_written_files_are_removed(folder):
    assert hold_folder() is True
    assert list((folder / ".snakemake/locks").iterdir()) == []
    assert left(folder) == [".b.own", ".c.abcd1234", "b.12345678"]
    assert hold_folder() is False  # nothing is there any more, and this process itself holds the folder now


def test_a_live_run_s_locks_stay_until_it_is_killed(folder):
    (folder / ".snakemake/locks").rename(folder / "kept")
    live = another_process(FOLDER)
    (folder / "kept").rename(folder / ".snakemake/locks")
    assert hold_folder() is False
    assert len(list((folder / ".snakemake/locks").iterdir())) == 2
    assert ".a.csv.abcd1234" in left(folder)
    alone._held.pop().close()
    live.send_signal(signal.SIGKILL)
    live.wait()
    assert hold_folder() is True


def test_another_machine_s_locks_stay(folder):
    (folder / ".snakemake/polyreward.lock").write_text("node-of-a-cluster")
    assert hold_folder() is False
    assert len(list((folder / ".snakemake/locks").iterdir())) == 2


def test_a_folder_without_locks_or_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    assert hold_folder(tmp_path / ".snakemake") is False
    (tmp_path / "file").touch()
    assert hold_folder(tmp_path / "file") is False

    def unknown(*arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(alone.fcntl, "flock", unknown)
    monkeypatch.setattr(alone.fcntl, "lockf", unknown)
    assert hold_folder(tmp_path / ".snakemake") is False
    hold_job("logs/job.log", tmp_path / ".snakemake")


def test_a_job_that_runs_already_is_named_with_its_process(folder):
    first = another_process(JOB)
    with pytest.raises(
        PolyrewardError, match=rf"logs/job.log: the job of this log runs already, as process {first.pid} "
    ):
        hold_job("logs/job.log")
    hold_job("logs/another.log")
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert subprocess.run([sys.executable, "-c", JOB], check=False).returncode == 0


def test_such_a_job_ends_in_words_and_leaves_the_log(folder):
    (folder / "logs").mkdir()
    (folder / "logs/job.log").write_text("of the first")
    first = another_process(JOB)
    code = (
        "from types import SimpleNamespace as S; from polyreward.ops.jobs import start_job; "
        "start_job(S(log=['logs/job.log'], resources={}, threads=1, params={}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    first.kill()
    first.wait()
    assert ran.returncode == 1
    assert "polyreward: logs/job.log: the job of this log runs already" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (folder / "logs/job.log").read_text() == "of the first"
