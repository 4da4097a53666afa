"""Running on a SLURM cluster: what a site's file says, and what can be reported before the first job waits in
a queue."""

import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from polyreward.core.errors import PolyrewardError, raise_all, unknown
from polyreward.core.yaml_files import read_yaml
from polyreward.models.cuda import cuda_only
from polyreward.ops.machine import cuda_devices

# Rules that everything else about trained reward models and their bases rests on
OF_TRAINED = {"transfer_comparison", "language_comparison", "figure1", "figure2", "gate", "labelled_pairs"}
SITE = Path(__file__).parents[3] / "profiles/slurm/site.yaml"
SITE_KEYS = ("account", "partition", "gpu_partition", "gpu_type", "status_command")
NEEDED = ("partition", "status_command")
STATUS_COMMANDS = ("sacct", "squeue")


def site_file() -> Path:
    """Return the file of the site's settings: the profile's own, or the one that POLYREWARD_SITE names."""
    return Path(os.environ.get("POLYREWARD_SITE", SITE))


def site_settings() -> dict:
    """Return what a SLURM site sets, by SITE_KEYS; raises PolyrewardError with all that is wrong in its
    file."""
    path = site_file()
    if not path.is_file():
        raise PolyrewardError(f"{path}: there is no such file; correct POLYREWARD_SITE, or unset it")
    site = read_yaml(path)
    raise_all(_site_problems(site if isinstance(site, dict) else {}), str(path))
    return site


def _site_problems(site: dict) -> Iterator[str]:
    yield from unknown("key", site, SITE_KEYS, "a site")
    for key in SITE_KEYS:
        if key not in site:
            yield f"`{key}` is missing"
        elif not (site[key] is None or (isinstance(site[key], str) and site[key])):
            yield (
                f"{key}: {site[key]!r} is no name; put it in"
                f" quotes{'' if key in NEEDED else ', or write null for none'}"
            )
        elif site[key] is None and key in NEEDED:
            yield f"{key}: needs a value"
    if site.get("status_command"):
        yield from unknown("status_command", [site["status_command"]], STATUS_COMMANDS, "the SLURM plugin")
    if site.get("gpu_type") and not site.get("gpu_partition"):
        yield "gpu_type: there is no gpu_partition to find it in; name one, or write null"


def sbatch_options(job) -> tuple[str, ...]:
    """Return what one of Snakemake's jobs asks of SLURM, as options of sbatch."""
    asks, gpus = job.resources.get, _number(job, "gpu")
    gpu_type = asks("gpu_model")
    options = {
        "partition": asks("slurm_partition"),
        "account": asks("slurm_account"),
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
    """Yield what would stop a run later, before its first job starts.

    executor: Snakemake's name of it; jobs: Snakemake's, all that are to be run."""
    if executor == "slurm":
        jobs = [job for job in jobs if not job.is_local]
        yield from leftovers(Path.cwd())
        yield from refusals(jobs)
        yield from without_gpu(
            (job for job in jobs if not _number(job, "gpu")),
            f"its job asks for none; set gpu_partition in {site_file()}",
        )
    elif executor == "local" and not cuda_devices():
        yield from without_gpu(
            jobs, "this machine has none; use another, or a cluster (--profile workflow/profiles/slurm)"
        )


def untrained_problems(jobs: Iterable) -> Iterator[str]:
    """Yield a problem where jobs compare reward models that are trained here; for a scale that names no base
    to train from."""
    asked = sorted({job.rule.name for job in jobs} & OF_TRAINED)
    if asked:
        yield (
            f"bases: [] trains no reward model, and {', '.join(asked)} compare those that are trained here;"
            " name a base, or ask for tables of listed reward models alone, such as"
            " results/benchmark_<name>.csv of one of own_benchmarks"
        )


def leftovers(folder: Path) -> Iterator[str]:
    """Yield a problem where jobs of an earlier run in this folder, one that was killed, are still in SLURM's
    queue."""
    listed = output_of("squeue", "--me", "--noheader", "--format=%i|%Z").splitlines()
    ours = [
        line.split("|")[0]
        for line in listed
        if os.path.realpath(line.split("|", 1)[1]) == os.path.realpath(folder)
    ]
    if ours:
        yield (
            "SLURM still has jobs of an earlier run in this folder, which would write the same files:"
            f" {', '.join(ours)}; wait for them, or stop them with `scancel {' '.join(ours)}`"
        )


def refusals(jobs: Iterable) -> Iterator[str]:
    """Yield a problem for each answer with which SLURM refuses a request: unknown account, too few GPUs, too
    much memory."""
    rules = defaultdict(set)
    for job in jobs:
        rules[sbatch_options(job)].add(job.rule.name)
    refused = defaultdict(list)
    for request in rules:
        ran = _run("sbatch", "--test-only", *request, "--wrap=true")
        if ran.returncode:
            refused[ran.stderr.strip().removeprefix("sbatch: error: ").splitlines()[0]].append(request)
    for answer, requests in refused.items():
        names = sorted({rule for request in requests for rule in rules[request]})
        yield (
            f"{', '.join(names)}: SLURM refuses `sbatch {' '.join(requests[0])}`: {answer}; correct"
            f" {site_file()}, or what the rule asks for in workflow/rules/"
        )


def without_gpu(jobs: Iterable, why: str) -> Iterator[str]:
    """Yield a problem for each set of settings that only a GPU can run, of jobs that would have none."""
    lacking = defaultdict(set)
    for job in jobs:
        wanted = sorted(set(gpu_settings(dict(job.params.items()))))
        if wanted:
            lacking[", ".join(wanted)].add(job.rule.name)
    for wanted, names in lacking.items():
        yield f"{', '.join(sorted(names))}: `{wanted}` runs on a CUDA GPU only, and {why}"


def gpu_settings(settings: dict) -> Iterator[str]:
    """Yield those of a job's settings that only run on a CUDA GPU."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from gpu_settings(value)
        elif cuda_only(key, value):
            yield f"{key}: {value}"


def _run(*command: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, text=True, capture_output=True)
    except FileNotFoundError:
        raise PolyrewardError(
            f"`{command[0]}` is not found; start this on a login node of a SLURM cluster"
        ) from None


def output_of(*command: str) -> str:
    """Return what a command prints; raises PolyrewardError with its complaint where it fails."""
    ran = _run(*command)
    if ran.returncode:
        raise PolyrewardError(f"`{' '.join(command)}` failed: {ran.stderr.strip() or ran.stdout.strip()}")
    return ran.stdout
