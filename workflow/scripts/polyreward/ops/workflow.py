"""What reaches into Snakemake: its rules, its jobs, its limits and its signals, all in one module."""

import inspect
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil

from polyreward.core.codehash import code_of, save_parsed
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.ops import machine
from polyreward.ops.resources import Job, ModelJob, too_large, unset_keys

GRACE_S = 5  # seconds between SIGTERM and SIGKILL
DEFAULT_LIMIT = (100, 1)  # Snakemake's: jobs that it starts, in so many seconds


def follow_code(rules, portable: bool) -> None:
    """Give each rule that runs a script a param `code`, the hash of its code; a job reruns when it changes.

    portable: also give each a param of that name, so that all is made again when the setting changes.
    """
    for rule in rules:
        if rule.script:
            if not isinstance(getattr(rule.params, "code", ""), str):  # a hash, where it was given before
                raise ValueError(f"rule {rule.name}: its own param `code` would be lost; rename it")
            rule.set_params(code=code_of(_script_of(rule)), **({"portable": True} if portable else {}))
    save_parsed()


def mock_snakemake(script: Path, rule: str | None, wildcards: Mapping[str, str], configfiles: Sequence):
    """Return what a script finds as `snakemake` in a job, without running Snakemake.

    Args:
        script: absolute; in `workflow/scripts/` of the project whose Snakefile is read.
        rule: the rule's name; the script's own where it is None.

    Raises:
        PolyrewardError: the rule does not run this script, wildcards do not fit, or inputs are missing.
    """
    import snakemake.api  # noqa: F401 - first, since `snakemake.dag` cannot be imported by itself
    from snakemake.dag import DAG
    from snakemake.exceptions import WorkflowError
    from snakemake.iocontainers import Snakemake
    from snakemake.jobs import Job
    from snakemake.settings.types import DAGSettings

    root = next(folder for folder in script.parents if (folder / "Snakefile").is_file())
    name = rule or script.stem
    with _snakefile(root, configfiles) as read:
        try:
            workflow = read().dag(DAGSettings()).workflow_api._workflow
            runs = {one.name: one for one in workflow.rules if one.script and _script_of(one) == script}
            if name not in runs:
                raise PolyrewardError(
                    f"{script}: rule `{name}` does not run it; name one that does:"
                    f" --rule {' | '.join(sorted(runs)) or '(this scale has none)'}"
                )
            found = runs[name]
            if found.wildcard_names != set(wildcards):
                keys = " ".join(f"{key}=..." for key in sorted(found.wildcard_names)) or "none"
                raise PolyrewardError(f"rule {name}: its wildcards are {keys}; give these as --wildcards")
            job = Job(found, DAG(workflow, rules=[found]), dict(wildcards))
            parts = job.input, job.output, job.params, job.wildcards, job.threads, job.resources, job.log
        except WorkflowError as error:
            raise PolyrewardError(str(error)) from error
    missing = [path for path in job.input if not Path(path).exists()]
    if missing:
        raise PolyrewardError(
            f"rule {name}: {len(missing)} inputs are missing, the first is {missing[0]};"
            f" make them: snakemake --cores all {' '.join(missing[:3])}"
        )
    for path in (*job.output, *job.log):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Snakemake(*parts, workflow.config, name, None, script.parent)


@contextmanager
def _snakefile(root: Path, configfiles: Sequence) -> Iterator[Callable]:
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    if missing := [str(path) for path in configfiles if not Path(path).is_file()]:
        raise PolyrewardError(f"{', '.join(missing)}: no such file; name an overlay of workflow/scales/")
    settings = ConfigSettings(configfiles=[Path(path).absolute() for path in configfiles])
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        yield lambda: api.workflow(ResourceSettings(cores=1), settings, snakefile=root / "Snakefile")


def _script_of(rule) -> Path:
    return Path(rule.basedir.get_path_or_uri(secret_free=True), rule.script).resolve()


def site_of(workflow) -> dict | None:
    """Return the site's settings where Snakemake runs by the SLURM profile; None elsewhere."""
    resources = workflow.resource_settings.default_resources or {}
    if "slurm_partition" not in resources:  # which that profile gives each job
        return None
    from polyreward.ops.cluster import site_settings

    return site_settings()


def stop_early(workflow, plan=None, hub_problems: Callable | None = None) -> None:
    """Raise Snakemake's error with all that would stop its run later; for `onstart`, before the first job.

    plan: the project's, as in polyreward/plan.py; None for a workflow without one. hub_problems: the function
    of ops/hub_check.py, with a plan.
    """
    from snakemake.exceptions import WorkflowError

    from polyreward.ops.cluster import missing_packages, start_problems, untrained_problems

    executor, jobs = workflow.executor_plugin.name, list(workflow.dag.needrun_jobs())
    asked = [described(job) for job in jobs]
    problems = []
    try:
        problems += start_problems(executor, jobs)
        room = plan.settings.devices.gpu_gib if plan else None
        if executor == "local":
            problems += machine_problems(workflow, jobs)
            room = machine.gpu_gib()
        # With --sdm, jobs have packages of their own
        if executor != "dryrun" and not workflow.deployment_settings.deployment_method:
            problems += missing_packages(jobs)
        problems += too_large(asked, room) if room else []
        problems += unset_keys(asked, os.environ)
        if plan:
            problems += [] if plan.settings.bases else untrained_problems(jobs)
            problems += hub_problems(asked, plan.models, plan.project.revisions)
        raise_all(problems, "before the first job")
    except PolyrewardError as error:
        raise WorkflowError(str(error)) from None


def stated(workflow) -> dict[str, int]:
    """Return {resource: number} of `--resources` or a profile's `resources`."""
    found = {name: workflow.global_resources.get(name) for name in machine.NAMES}
    return {name: one.value for name, one in found.items() if one is not None and isinstance(one.value, int)}


def machine_problems(workflow, jobs: Iterable) -> Iterator[str]:
    """Yield each stated limit that is more than this machine has, and each rule that asks for too much."""
    has, given = {"mem_mb": machine.memory_mb(), "gpu": machine.cuda_devices()}, stated(workflow)
    limits = {**machine.available(), **given}
    for name, value in given.items():
        if value > has[name]:
            yield (
                f"--resources {name}={value} (or a profile) is more than this machine's {has[name]}; give at"
                f" most that, or leave it out: then jobs get {machine.available()[name]}"
            )
    for rule, asked in sorted(requests(workflow, jobs).items()):
        for name, value in asked.items():
            if value > limits[name]:
                yield (
                    f"{rule}: a job asks for {value} {machine.NAMES[name]}, and jobs get {limits[name]} of"
                    f" this machine's {has[name]}. Use a larger machine or a smaller model, or give jobs more"
                    f" (`--resources {name}=...`). Where `polyreward costs` shows that the job takes less,"
                    f" ask for less (`--set-resources {rule}:{name}=...`)"
                )


def requests(workflow, jobs: Iterable) -> dict[str, dict[str, int]]:
    """Return {rule: {resource: the most that a job asks for}}, before Snakemake cuts it to the limits."""
    limits, asked = workflow.global_resources, {}
    kept = {name: limits[name] for name in machine.NAMES if name in limits}
    try:
        for name in kept:
            limits[name] = None
        for job in jobs:
            found = job.rule.expand_resources(job.wildcards_dict, job.input, job.attempt)
            most = asked.setdefault(job.rule.name, {})
            for name in machine.NAMES:
                if isinstance(value := found.get(name), int):  # else not known before an input is there
                    most[name] = max(value, most.get(name, 0))
    finally:
        for name, value in kept.items():
            limits[name] = value
    return asked


def limit_jobs(workflow) -> None:
    """Let Snakemake run no more jobs at a time than this machine holds; for `onstart`, after stop_early.

    Does nothing where jobs run elsewhere. A rule that does not state its memory asks for machine.TABLE_MB.
    """
    if workflow.executor_plugin.name != "local":
        return
    for rule in workflow.rules:
        if "mem_mb" not in rule.resources:
            rule.resources["mem_mb"] = machine.TABLE_MB
    for name, value in {**machine.available(), **stated(workflow)}.items():
        workflow.scheduler.global_resources[name] = value
        workflow.register_resource(name, value)


def wait_for_jobs(workflow) -> None:
    """Let Snakemake look for new jobs when one ends, and not also every second; for `onstart`.

    By default it starts at most 100 jobs a second. To keep that, each look asks for another one a second
    later, so that each ended job adds one a second, and each reads the sizes of all inputs. That took the
    main process 674 s of 1,781 s at scale tiny on one core. A limit of one's own
    (`--max-jobs-per-timespan 10/1m`) stays.
    """
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None


def end_jobs_on_interrupt(workflow) -> None:
    """From now on end all jobs on this machine when the run is interrupted (SIGINT); for `onstart`."""
    if workflow.executor_plugin.name != "local":
        return  # its executor cancels jobs itself
    before = signal.getsignal(signal.SIGINT)

    def end_jobs(number: int, frame: FrameType | None) -> None:
        try:
            if callable(before):
                before(number, frame)  # first, so that a log knows why the jobs end
        finally:
            end_children()

    signal.signal(signal.SIGINT, end_jobs)


def end_children() -> None:
    """End all processes that this one started, and theirs: by SIGTERM, and after GRACE_S by SIGKILL."""
    children = psutil.Process().children(recursive=True)
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                end(child)
        children = psutil.wait_procs(children, timeout=GRACE_S)[1]


def job_records(root: Path) -> Callable:
    """Return a function that returns Snakemake's record of the job that made a path, or None."""
    from snakemake.io import IOFile
    from snakemake.persistence.file import FilePersistence

    if not (root / ".snakemake/metadata").is_dir():
        raise PolyrewardError(f"{root}: has no .snakemake/metadata; run this in the project's folder")
    records = FilePersistence(nolock=True, path=root / ".snakemake")

    def record_of(path: str):
        record = records.metadata(IOFile(path))
        return None if record is None or record.rule is None else record

    return record_of


def dry_run_jobs(targets: Sequence[str], configfiles: Sequence[str]) -> Iterator:
    """Yield the jobs of a run from nothing, by the Snakefile in this folder; raise what does not resolve."""
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.types import DAGSettings

    with _snakefile(Path.cwd(), configfiles) as read:
        try:
            flow = read()
            flow.dag(DAGSettings(targets=set(targets), forceall=True))
            inner = flow._workflow  # the API has no way to a dry run's jobs
            inner._prepare_dag(forceall=True, ignore_incomplete=True, lock_warn_only=True, nolock=True)
            inner._build_dag()
        except (WorkflowError, RuleException) as error:
            raise PolyrewardError(f"the scale does not resolve: {error}") from None
        yield from inner.dag.jobs


def described(job) -> Job:
    """Return one of Snakemake's jobs with what its rule states of its models."""
    asked = job.rule.resources.get("mem_mb")
    model = inspect.unwrap(asked._value) if asked is not None and callable(asked._value) else None
    return Job(job.rule.name, job.wildcards, model if isinstance(model, ModelJob) else None)
