"""A Python that has already loaded PyTorch, which takes most of a tiny job's time.

`preloaded(environment)` starts a server that imports the large packages, none of ours, and gives a command
that replaces Snakemake's. Its jobs run in forks of the server, each with its own arguments, folder,
environment and output. A job whose environment differs from the server's runs in a new Python, since imports
may depend on it.

`preloaded(environment, "snakemake")` gives the command of a Snakemake that is such a fork itself, for plans.

    python tests/preloaded.py ARGUMENTS    Snakemake with these arguments, its jobs in forks
"""

import gc
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

# {what runs in forks: what its server loads}
PACKAGES = {
    "jobs": (
        "torch",
        "transformers",
        "transformers.modeling_utils",
        "transformers.generation",
        "transformers.models.gemma3.modeling_gemma3",
        "transformers.models.llama.modeling_llama",
        "trl.trainer.dpo_trainer",
        "trl.trainer.grpo_trainer",
        "trl.trainer.reward_trainer",
        "trl.trainer.sft_trainer",
        "pydantic",
        "peft",
        "datasets",
        "pandas",
        "scipy.stats",
        "statsmodels.api",
        "seaborn",
        "sklearn.linear_model",
        "snakemake.script",
    ),
    "snakemake": (
        "snakemake.cli",
        "snakemake.report.html_reporter",
        "babel.core",
        "jsonschema",
        "nbformat",
        "smart_open",
    ),
}
# {what runs in forks: a regular expression of the variables that decide what its imports do}
DECISIVE = {"jobs": ".*", "snakemake": "PYTHON.*"}
# These differ without a meaning for what is imported.
ANYHOW = {"_", "SHLVL", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "TEMPDIR"}
# As Snakemake sets them for a job of one thread
ONE_THREAD = dict.fromkeys(
    [f"{library}_NUM_THREADS" for library in ("OMP", "MKL", "OPENBLAS", "GOTO", "NUMEXPR")]
    + ["VECLIB_MAXIMUM_THREADS"],
    "1",
)
STARTED_AGAIN = {"jemalloc_bg_thd"}  # threads that a fork starts again: pandas loads jemalloc with Arrow
SERVE = "serve"  # the first argument of a server
OWN_PYTHON = "in a Python of its own"  # the answer to a job that cannot run in a fork
# What Snakemake runs instead of Python. It imports little, so that it starts at once.
CLIENT = """#!{python} -IS
import array, json, os, signal, socket, sys
served = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
served.connect({address!r})
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
served.sendmsg([len(request).to_bytes(4, "big")], ancillary)
served.sendall(request)
answer = served.makefile().read()
if answer == {own!r}:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
code = int(answer or 1)
if code == -signal.SIGINT:  # which Python itself catches
    signal.signal(signal.SIGINT, signal.SIG_DFL)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
# Snakemake puts sys.executable, with which it runs scripts, into commands of the shell as it is.
SNAKEMAKE = (
    "import shlex, sys; sys.executable = shlex.quote(sys.argv.pop(1)); from snakemake.cli import main; main()"
)


@contextmanager
def preloaded(environment: Mapping[str, str], forks: str = "jobs") -> Iterator[list[str]]:
    """Yield the command that replaces `python -m snakemake` while a server with this environment runs."""
    with tempfile.TemporaryDirectory(prefix="preloaded-") as folder:
        address, client = f"{folder}/socket", Path(folder) / "python"
        client.write_text(
            CLIENT.format(python=sys.executable, address=address, own=OWN_PYTHON), encoding="utf-8"
        )
        client.chmod(0o755)
        command = [sys.executable, str(Path(__file__).absolute()), SERVE, address, forks]
        with subprocess.Popen(
            command, env={**environment, **ONE_THREAD}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            try:
                if not server.stdout.readline():
                    raise RuntimeError(f"the server of preloaded Python ended with {server.wait()}")
                of_jobs = [sys.executable, "-c", SNAKEMAKE, str(client)]
                yield of_jobs if forks == "jobs" else [str(client), "-m", "snakemake"]
            finally:
                server.stdin.close()  # at which it ends


def serve(address: str, forks: str) -> None:
    """Import all, report it, and fork for each job until standard input ends."""
    begun = dict(os.environ)
    for name in PACKAGES[forks]:
        __import__(name)
    gc.freeze()  # forks need not look through all that for garbage
    set_by_them = {name: value for name, value in os.environ.items() if begun.get(name) != value}
    lost = set(threads()) - STARTED_AGAIN
    if lost:
        sys.exit(f"threads {', '.join(sorted(lost))} run after the imports; forks would not have them")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, selectors.DefaultSelector() as ready:
        listener.bind(address)
        listener.listen(64)
        ready.register(sys.stdin, selectors.EVENT_READ)
        ready.register(listener, selectors.EVENT_READ)
        print("ready", flush=True)
        while sys.stdin not in [key.fileobj for key, _ in ready.select(timeout=1)]:
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # jobs that have ended; their seconds are this process's
                    pass
            listener.settimeout(0)
            with suppress(BlockingIOError):
                connection, _ = listener.accept()
                connection.settimeout(None)
                if not os.fork():
                    listener.close()
                    attend(connection, begun, set_by_them, DECISIVE[forks])
                connection.close()


def threads() -> list[str]:
    """Return the names of this process's threads except the first."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    return [(task / "comm").read_text(encoding="utf-8").strip() for task in tasks]


def attend(
    connection: socket.socket, begun: dict[str, str], set_by_them: dict[str, str], decisive: str
) -> None:
    """Run one job in a fork, report how it ended, and end it if the client does; never return.

    begun: the server's environment. set_by_them: what its imports set in it. decisive: as in DECISIVE."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    request = b""
    while len(request) < int.from_bytes(head, "big"):
        part = connection.recv(1 << 20)
        if not part:  # the client is gone
            os._exit(0)
        request += part
    arguments, folder, environment = json.loads(request)
    # Snakemake may import some of the packages, and its jobs inherit what they set.
    meaningless = {**dict.fromkeys(ANYHOW), **set_by_them}
    differences = {**ONE_THREAD, **environment, **meaningless}.items() ^ {**begun, **meaningless}.items()
    names = sorted({name for name, _ in differences if re.fullmatch(decisive, name)})
    if names:
        name = Path(arguments[0]).name
        print(f"{name} runs {OWN_PYTHON}: {', '.join(names)} differ", file=sys.stderr, flush=True)
        connection.sendall(OWN_PYTHON.encode())
        os._exit(0)
    job = os.fork()
    if not job:
        connection.close()
        run(arguments, folder, {**environment, **set_by_them}, descriptors)
    with selectors.DefaultSelector() as ready:
        ended = os.pidfd_open(job)
        ready.register(ended, selectors.EVENT_READ)
        ready.register(connection, selectors.EVENT_READ)
        if ended not in [key.fd for key, _ in ready.select()]:  # the client is gone
            os.kill(job, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    with suppress(BrokenPipeError):
        connection.sendall(str(code).encode())
    os._exit(0)


def run(arguments: list[str], folder: str, environment: dict[str, str], descriptors: list[int]) -> None:
    """Run a script as Python does, with a client's arguments, folder, environment and output; never return."""
    import atexit
    import random
    import runpy
    import threading

    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    tempfile.tempdir = None  # looked up again
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    code = 0
    try:
        if arguments[0] == "-m":
            sys.argv, sys.path[0] = arguments[1:], folder
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = arguments, str(Path(arguments[0]).parent)
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if "REHEARSAL" in environment:  # dress_rehearsal.py reads it in the job's log
        torch = sys.modules["torch"]
        used = torch.cuda.is_available() and torch.cuda.is_initialized()
        print(f"computed on: {torch.cuda.get_device_name() if used else 'the CPU'}")
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == SERVE:
        serve(*sys.argv[2:])
    else:
        with preloaded(os.environ) as snakemake:
            sys.exit(subprocess.run([*snakemake, *sys.argv[1:]], check=False).returncode)
