"""A finished run without the work: each job's outputs are written empty, so that Snakemake can be asked what
an edit reruns.

Snakemake itself is the real one, with its records of each job; only the scripts are not executed."""

import os
import subprocess
import sys
from pathlib import Path

# Python reads a module of this name at its start. In a process that Snakemake started for a script it takes
# the job's outputs out of what Snakemake wrote before the script, without importing Snakemake, and ends.
SITECUSTOMIZE = """
import ast, io, os, pathlib, pickle, re, sys

class Items(list):
    def __new__(cls, *arguments, **more):
        return super().__new__(cls)
    def __init__(self, *arguments, **more):
        super().__init__()

class Path(str):
    def __new__(cls, text="", *arguments, **more):
        return super().__new__(cls, text)

class Job(pickle.Unpickler):
    def find_class(self, module, name):
        if module.startswith("snakemake"):
            return Path if name in ("AnnotatedString", "_IOFile", "IOFile") else Items
        return super().find_class(module, name)

script = sys.orig_argv[1] if len(sys.orig_argv) > 1 else ""
if ".snakemake/scripts/" in script:
    text = pathlib.Path(script).read_text(encoding="utf-8")
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    call = next(node for node in calls if ast.unparse(node.func) == "pickle.loads")
    job = Job(io.BytesIO(ast.literal_eval(call.args[0]))).load()
    for path in job.output:
        if not re.search(r"[.][a-z]+$|SUMS$", path):  # a folder; its files have endings
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            open(path, "w").close()
    os._exit(0)
"""


def finish(folder: Path, *arguments: str) -> None:
    """Let Snakemake finish a run in a checkout, every output empty; arguments: targets and options of
    Snakemake."""
    modules = folder / ".made_up"
    modules.mkdir(exist_ok=True)
    (modules / "sitecustomize.py").write_text(SITECUSTOMIZE, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(modules), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
