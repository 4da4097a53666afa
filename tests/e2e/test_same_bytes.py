"""The same bytes again: another folder, user, locale, time zone, umask, hash seed and number of cores.

What is rebuilt has every kind of file: CSV, Markdown, TeX, HTML, PNG, PDF, a notebook, parquet and
safetensors."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from flow import SCALE
from support import checkout

TARGETS = ["results/tiny/table1.csv", "results/tiny/notebooks/transfer.html"]
ENDINGS = {".csv", ".md", ".tex", ".html", ".png", ".pdf", ".ipynb", ".parquet", ".safetensors"}
LEFT_OUT = {"logs", "benchmarks"}  # of jobs, with their seconds
NOBODY = "65534"
# Another user, who reads as its owner does, since the tests' Python may lie in a home, and writes only what
# is its own.
OTHER_USER = [
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
]  # fmt: skip


def rebuild(folder, cores, variables, umask, before=()):
    """Start a run in a new checkout; before: words in front of the command."""
    options = ["--configfile", *SCALE, "--cores", str(cores)]
    command = [*before, sys.executable, "-m", "snakemake", *options, *TARGETS]
    kept = {name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    given = {**kept, "HOME": str(folder), "HF_HUB_OFFLINE": "1", **variables}  # nothing else of ours
    with open(folder / "run.log", "w", encoding="utf-8") as stream:
        how = {"stdout": stream, "stderr": subprocess.STDOUT, "umask": umask}
        return subprocess.Popen(command, cwd=folder, env=given, **how)


def made(results):
    """Return {file: bytes} of what jobs made, below a folder of results."""
    paths = (path for path in results.rglob("*") if path.is_file() and path.name != ".snakemake_timestamp")
    found = {path.relative_to(results): path.read_bytes() for path in paths}
    return {name: text for name, text in found.items() if name.parts[0] not in LEFT_OUT}


def turkish(folder):
    """Return the variables of a Turkish locale, which is made in a folder where the system has none: 1,5 and
    another i."""
    if "tr_TR.utf8" in subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split():
        return {"LC_ALL": "tr_TR.UTF-8"}
    folder.mkdir()
    made = ["localedef", "-i", "tr_TR", "-f", "UTF-8", folder / "tr_TR.UTF-8"]
    if subprocess.run(made, check=False).returncode:
        print("not tried: the Turkish locale, which the system does not know")
    return {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(folder)}


@pytest.mark.matrix
def test_a_rebuild_elsewhere_gives_the_same_bytes(tiny):
    """Two rebuilds at once: as another user, who sees a world of its own, and in a folder with a space."""
    parent = Path(tempfile.mkdtemp(prefix="polyreward-same-"))
    try:
        parent.chmod(0o755)
        runs = {
            "a folder with a space, one core, Turkish, Kolkata, umask 077, hash seed 1": rebuild(
                checkout(parent / "an other folder"), 1,
                {**turkish(parent / "locales"), "TZ": "Asia/Kolkata", "PYTHONHASHSEED": "1"}, 0o077,
            )
        }  # fmt: skip
        if os.geteuid() == 0 and shutil.which("setpriv"):
            folder = checkout(parent / "of-nobody")
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)
            variables = {"LC_ALL": "C", "TZ": "America/St_Johns", "PYTHONHASHSEED": "2"}
            runs["another user, two cores, locale C, Newfoundland, umask 002"] = rebuild(
                folder, 2, variables, 0o002, OTHER_USER
            )
        else:
            print("not tried: another user, which only root with setpriv can be")
        expected, problems = made(tiny), []
        for (name, run), folder in zip(runs.items(), ("an other folder", "of-nobody"), strict=False):
            assert run.wait() == 0, (parent / folder / "run.log").read_text(encoding="utf-8")[-3000:]
            found = made(parent / folder / "results/tiny")
            assert {path.suffix for path in found} >= ENDINGS
            different = [str(path) for path in sorted(found) if found[path] != expected.get(path)]
            print(f"{name}: {len(found)} files, {len(different)} differ")
            problems += [f"{name}: {path}" for path in different]
        assert problems == []
    finally:
        shutil.rmtree(parent)
