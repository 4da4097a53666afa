"""Jobs of the tests in forks of a Python that has loaded PyTorch: what they see, and how they end."""

import os
import signal
import subprocess
import time

import pytest
from preloaded import preloaded

pytestmark = pytest.mark.slow
ENVIRONMENT = dict(os.environ)


@pytest.fixture(scope="module")
def python():
    """What Snakemake runs instead of Python."""
    with preloaded(ENVIRONMENT) as command:
        yield command[-1]


def ran(python, folder, script, *arguments, **environment):
    (folder / "job.py").write_text(script, encoding="utf-8")
    command = [python, "job.py", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False
    )


def test_a_job_has_its_own_arguments_folder_and_output_and_finds_pytorch_loaded(python, tmp_path):
    script = (
        "import os, sys; print('torch' in sys.modules, sys.argv, os.getcwd(), __name__); print('x',"
        " file=sys.stderr)"
    )
    job = ran(python, tmp_path, script, "a b")
    assert (job.returncode, job.stdout) == (0, f"True ['job.py', 'a b'] {tmp_path} __main__\n")
    assert job.stderr == "x\n"


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('bad input')", 1, "bad input\n"),
        ("raise ValueError('of ours')", 1, "ValueError: of ours\n"),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL, ""),
    ],
)
def test_a_job_s_end_is_reported(python, tmp_path, script, code, said):
    job = ran(python, tmp_path, script)
    assert job.returncode == code and job.stderr.endswith(said) and bool(job.stderr) == bool(said)


def test_a_job_with_another_environment_runs_in_a_python_of_its_own(python, tmp_path):
    job = ran(
        python,
        tmp_path,
        "import os, sys; print('torch' in sys.modules, os.environ['ANOTHER'])",
        ANOTHER="one",
    )
    assert job.stdout == "False one\n"


def test_a_job_ends_with_who_asked_for_it(python, tmp_path):
    (tmp_path / "job.py").write_text(
        "import os, time; print(os.getpid(), flush=True); time.sleep(600)", encoding="utf-8"
    )
    with subprocess.Popen(
        [python, "job.py"], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as client:
        job = int(client.stdout.readline())
        client.kill()
    until = time.monotonic() + 30
    while os.path.exists(f"/proc/{job}"):
        assert time.monotonic() < until, "the job goes on"
        time.sleep(0.02)
