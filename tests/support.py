"""The repository, copies of it, and Snakemake as a user calls it, for all tests."""

import atexit
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest
import yaml
from preloaded import preloaded

from polyreward.core.errors import PolyrewardError

ROOT = Path(__file__).parents[1]
TINY = "workflow/scales/tiny.yaml"


def checkout(folder: Path) -> Path:
    """Copy what Snakemake needs from the repository into a folder, next to existing results; return the
    folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("Snakefile", "config.yaml"):
        shutil.copy2(ROOT / name, folder)
    if not (folder / "profiles").exists():
        (folder / "profiles").symlink_to(
            "workflow/profiles"
        )  # as in the repository; Snakemake finds its default there
    for name in ("workflow", "resources", "envs"):
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    return folder


@cache
def unused_checkout() -> Path:
    """Return a checkout for dry runs, which are then independent of the developer's unfinished or locked
    files.
    """
    parent = tempfile.mkdtemp(prefix="polyreward-tests-")
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    return checkout(Path(parent) / "polyreward")


@cache
def script(name: str):
    """Return a rule's script as a module, such as `analyse/transfer_comparison`."""
    path = ROOT / f"workflow/scripts/{name}.py"
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def planned_whole(*scale: str) -> subprocess.CompletedProcess:
    """Return the dry run of all jobs of a scale (arguments of Snakemake), shared between tests."""
    return snakemake("-n", "--forceall", "--cores", "2", "all", *scale)


def registry() -> dict[str, dict]:
    """Return workflow/artifacts.yaml with an entry for each language's table."""
    from polyreward.config.registry import by_language

    def load(path: str) -> dict:
        return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))

    names = {language: facts["name"] for language, facts in load("resources/languages.yaml").items()}
    return by_language(load("workflow/artifacts.yaml"), names)


def refused(call, *arguments, **options) -> str:
    """Return the text of the PolyrewardError that a call raises."""
    with pytest.raises(PolyrewardError) as error:
        call(*arguments, **options)
    return str(error.value)


def jobs_of(ran: subprocess.CompletedProcess) -> dict[str, int]:
    """Return {rule: jobs} of a dry run."""
    return {rule: int(jobs) for rule, jobs in re.findall(r"^(\w+) +(\d+)$", ran.stdout, re.MULTILINE)}


def snakemake(
    *arguments: str, cwd: Path | None = None, offline: bool = True, many_jobs: bool = False
) -> subprocess.CompletedProcess:
    """Run Snakemake with the tests' Python; output and errors are one text.

    Args:
        cwd: a checkout; by default one without results that gets none.
        offline: use only the hub's cache.
        many_jobs: run jobs in forks of a Python that has loaded PyTorch.
    """
    environment = {**os.environ, **({"HF_HUB_OFFLINE": "1"} if offline else {})}
    with preloaded(environment) if many_jobs else nullcontext([sys.executable, "-m", "snakemake"]) as command:
        return subprocess.run(
            [*command, *arguments],
            cwd=cwd or unused_checkout(),
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
