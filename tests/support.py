"""The repository, copies of it, and Snakemake as a user calls it, for all tests."""

import atexit
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
import yaml
from preloaded import ANYHOW, DECISIVE, preloaded

from polyreward.core.errors import PolyrewardError

ROOT = Path(__file__).parents[1]
TINY = "workflow/scales/tiny.yaml"


def checkout(folder: Path) -> Path:
    """Copy what Snakemake needs into a folder, next to existing results, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("Snakefile", "config.yaml"):
        shutil.copy2(ROOT / name, folder)
    if not (folder / "profiles").exists():
        (folder / "profiles").symlink_to("workflow/profiles")  # Snakemake finds its default there
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("workflow", "resources", "envs"):
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    return folder


@cache
def unused_checkout() -> Path:
    """Return a checkout for dry runs, which need none of the developer's unfinished or locked files."""
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
    ran = snakemake("-n", "--forceall", "--cores", "2", "all", *scale)
    assert ran.returncode == 0, ran.stdout
    return ran


def registry() -> dict[str, dict]:
    """Return workflow/artifacts.yaml with an entry for each language's table."""
    from polyreward.sheet.entries import read_models
    from polyreward.sheet.registry import registry_of

    artifacts = yaml.safe_load((ROOT / "workflow/artifacts.yaml").read_text(encoding="utf-8"))
    models = read_models([], ROOT)
    return registry_of(models.settings, models.catalog, artifacts).entries


def refused(call, *arguments, **options) -> str:
    """Return the text of the PolyrewardError that a call raises."""
    with pytest.raises(PolyrewardError) as error:
        call(*arguments, **options)
    return str(error.value)


def jobs_of(ran: subprocess.CompletedProcess) -> dict[str, int]:
    """Return {rule: jobs} of a dry run."""
    return {rule: int(jobs) for rule, jobs in re.findall(r"^(\w+) +(\d+)$", ran.stdout, re.MULTILINE)}


def files_of_jobs(ran: subprocess.CompletedProcess) -> list[tuple[str, list[str], list[str]]]:
    """Return [(rule, inputs, outputs)] of a dry run's jobs."""
    found = []
    for block in re.split(r"^(?:local)?rule ", ran.stdout, flags=re.MULTILINE)[1:]:
        files = dict(re.findall(r"^    (input|output): (.*)$", block, re.MULTILINE))
        inputs, outputs = (files[key].split(", ") if key in files else [] for key in ("input", "output"))
        found.append((block.split(":")[0], inputs, [path.split(" (")[0] for path in outputs]))
    return found


def snakemake(
    *arguments: str, cwd: Path | None = None, offline: bool = True, many_jobs: bool = False
) -> subprocess.CompletedProcess:
    """Run Snakemake with the tests' Python; output and errors are one text.

    Args:
        cwd: a checkout; by default one without results that gets none.
        offline: use only the hub's cache.
        many_jobs: run jobs in forks of a Python that has loaded PyTorch.
    """
    environment = variables(**({"HF_HUB_OFFLINE": "1"} if offline else {}))
    return subprocess.run(
        [*started("jobs" if many_jobs else "snakemake", environment), *arguments],
        cwd=cwd or unused_checkout(),
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def variables(**more: str) -> dict[str, str]:
    """Return this process's environment, the same in every test, with more variables."""
    return {**{name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}, **more}


_servers: dict[str, tuple] = {}  # {what runs in forks: its server's variables, its end, Snakemake's command}


def started(forks: str, environment: dict[str, str]) -> list[str]:
    """Return the command of a preloaded Snakemake; its server stays for calls with the same variables."""
    names = [name for name in environment if re.fullmatch(DECISIVE[forks], name) and name not in ANYHOW]
    decisive = {name: environment[name] for name in names}
    kept = _servers.get(forks)
    if kept is None or kept[0] != decisive:
        if kept:
            del _servers[forks]  # also when the next one does not start
            kept[1].close()
        end = ExitStack()
        _servers[forks] = decisive, end, end.enter_context(preloaded(environment, forks))
        atexit.register(end.close)
    return _servers[forks][2]
