"""A SLURM site's settings, and what can be reported before the first job waits in a queue."""

import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.yaml_files import read_yaml
from polyreward.models.cuda import cuda_only, how_to_install, needed_package
from polyreward.ops.machine import cuda_devices
from polyreward.settings.base import Section
from polyreward.settings.messages import type_problems

# Rules that all other tables and figures of trained reward models need
OF_TRAINED = {"transfer_comparison", "language_comparison", "figure1", "figure2", "gate", "labelled_pairs"}
SITE = Path(__file__).parents[3] / "profiles/slurm/site.yaml"


class Site(BaseModel, extra="forbid"):
    """A SLURM site's settings."""

    account: str | None
    partition: str
    gpu_partition: str | None
    gpu_type: str | None
    status_command: Literal["sacct", "squeue"]


def site_settings() -> dict:
    """Return a SLURM site's settings; raise PolyrewardError with all that is wrong in its file."""
    path = _site_file()
    if not path.is_file():
        raise PolyrewardError(f"{path}: there is no such file; correct POLYREWARD_SITE, or unset it")
    site = read_yaml(path)
    raise_all(map(str, type_problems(Site, site)), str(path))
    if site["gpu_type"] and not site["gpu_partition"]:
        raise PolyrewardError(f"{path}: gpu_type: there is no gpu_partition to find it in; name one")
    return site


def _site_file() -> Path:
    return Path(os.environ.get("POLYREWARD_SITE", SITE))


def sbatch_options(job) -> tuple[str, ...]:
    """Return what one of Snakemake's jobs asks of SLURM, as options of sbatch."""
    gpus, gpu_type = _number(job, "gpu"), job.resources.get("gpu_model")
    options = {
        "partition": job.resources.get("slurm_partition"),
        "account": job.resources.get("slurm_account"),
        "nodes": 1,
        "cpus-per-task": job.threads,
        "mem": _number(job, "mem_mb"),  # MB
        "time": _number(job, "runtime"),  # minutes
        "gpus": (f"{gpu_type}:{gpus}" if gpu_type else gpus) if gpus else None,
    }
    return tuple(f"--{name}={value}" for name, value in options.items() if value is not None)


def _number(job, name: str) -> int | None:
    value = job.resources.get(name)
    return value if isinstance(value, int) else None  # else not known before an input is there


def start_problems(executor: str, jobs: Iterable) -> Iterator[str]:
    """Yield what would stop a run later, by Snakemake's name of its executor and all jobs to be run."""
    if executor == "slurm":
        jobs = [job for job in jobs if not job.is_local]
        yield from leftovers(Path.cwd())
        yield from refusals(jobs)
        without = [job for job in jobs if not _number(job, "gpu")]
        yield from without_gpu(without, f"its job asks for none; set gpu_partition in {_site_file()}")
    elif executor == "local" and not cuda_devices():
        yield from without_gpu(
            jobs, "this machine has none; use another, or a cluster (--profile workflow/profiles/slurm)"
        )


def untrained_problems(jobs: Iterable) -> Iterator[str]:
    """Yield a problem where jobs compare trained reward models, for a scale that trains none."""
    asked = sorted({job.rule.name for job in jobs} & OF_TRAINED)
    if asked:
        yield (
            f"bases: [] trains no reward model, and {', '.join(asked)} compare trained ones;"
            " name a base, or ask only for tables of listed reward models, such as"
            " results/benchmark_<name>.csv of one of own_benchmarks"
        )


def leftovers(folder: Path) -> Iterator[str]:
    """Yield a problem where jobs of an earlier, killed run in this folder are still in SLURM's queue."""
    ran = _run("squeue", "--me", "--noheader", "--format=%i|%Z")
    if ran.returncode:
        raise PolyrewardError(f"`squeue --me` failed: {ran.stderr.strip()}")
    jobs = [line.split("|", 1) for line in ran.stdout.splitlines()]
    ours = [job for job, place in jobs if os.path.realpath(place) == os.path.realpath(folder)]
    if ours:
        yield (
            "SLURM still has jobs of an earlier run in this folder, which would write the same files:"
            f" {', '.join(ours)}; wait for them, or stop them with `scancel {' '.join(ours)}`"
        )


def refusals(jobs: Iterable) -> Iterator[str]:
    """Yield a problem for each answer with which SLURM refuses a request: unknown account, too few GPUs."""
    rules, refused = defaultdict(set), defaultdict(list)
    for job in jobs:
        rules[sbatch_options(job)].add(job.rule.name)
    for request in rules:
        ran = _run("sbatch", "--test-only", *request, "--wrap=true")
        if ran.returncode:
            refused[ran.stderr.strip().removeprefix("sbatch: error: ").splitlines()[0]].append(request)
    for answer, requests in refused.items():
        names = sorted({rule for request in requests for rule in rules[request]})
        yield (
            f"{', '.join(names)}: SLURM refuses `sbatch {' '.join(requests[0])}`: {answer}; correct"
            f" {_site_file()}, or what the rule asks for in workflow/rules/"
        )


def missing_packages(jobs: Iterable) -> Iterator[str]:
    """Yield a problem for each package that a setting of some job needs, and that is not installed here."""
    return _problems_of_settings(jobs, package_problem)


def package_problem(key: str, value: object) -> str | None:
    """Return what to do where a setting needs a package that is not installed here."""
    module = needed_package(key, value)
    if module is None or find_spec(module):
        return None
    how = how_to_install(module)
    return f"`{key}: {value}` needs the package {module}, which is not installed: {how}"


def without_gpu(jobs: Iterable, why: str) -> Iterator[str]:
    """Yield a problem for each setting that needs a GPU, of jobs that would have none."""

    def problem(key: str, value: object) -> str | None:
        return f"`{key}: {value}` runs on a CUDA GPU only, and {why}" if cuda_only(key, value) else None

    return _problems_of_settings(jobs, problem)


def _problems_of_settings(jobs: Iterable, problem: Callable[[str, object], str | None]) -> Iterator[str]:
    """Yield each problem that a function finds in a setting, after the rules whose jobs have that setting."""
    rules = defaultdict(set)
    for job in jobs:
        for key, value in settings_of(dict(job.params.items())):
            if text := problem(key, value):
                rules[text].add(job.rule.name)
    for text, names in rules.items():
        yield f"{', '.join(sorted(names))}: {text}"


def settings_of(params: dict) -> Iterator[tuple[str, object]]:
    """Yield each setting of a job with its value, those of sections and of dictionaries within them too."""
    for key, value in params.items():
        if isinstance(value, dict | Section):
            yield from settings_of(dict(value))
        else:
            yield key, value


def _run(*command: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, text=True, capture_output=True)
    except FileNotFoundError:
        raise PolyrewardError(
            f"`{command[0]}` is not found; start this on a login node of a SLURM cluster"
        ) from None
