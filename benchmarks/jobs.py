"""The jobs of a finished target, as Snakemake itself plans them, and what each took, from the files of
`benchmark:`."""

import contextlib
import dataclasses
import io
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import common
import pandas as pd

from polyreward.core.errors import PolyrewardError

RESULTS = "results"  # what the results folder is called in a project of `linked_project`
NOT_LINKED = {RESULTS, ".snakemake", ".git", ".venv"}


@dataclasses.dataclass(frozen=True)
class Job:
    """One job; paths are relative to the project.

    needs: ids of the jobs that it waits for. temporary: outputs that Snakemake removes when nothing needs
    them any more. asked: what its script sees of the rule, as Snakemake's own objects. resources: those that
    limit how many run at once."""

    id: int
    rule: str
    needs: tuple[int, ...]
    script: str | None
    benchmark: str | None
    temporary: tuple[str, ...]
    threads: int
    priority: int
    resources: dict[str, int]
    asked: dict

    @property
    def name(self) -> str:
        """Rule and key, as the benchmark's path has them."""
        return f"{self.rule} {Path(self.benchmark).stem}" if self.benchmark else self.rule


@contextlib.contextmanager
def linked_project() -> Iterator[Path]:
    """Make a folder of links to the project's files, with an empty folder of results, so that a run there
    leaves it alone."""
    with TemporaryDirectory() as folder:
        for path in common.ROOT.iterdir():
            if path.name not in NOT_LINKED:
                Path(folder, path.name).symlink_to(path)
        Path(folder, RESULTS).mkdir()
        yield Path(folder)


def jobs_of(target: str, configfiles: Sequence[str]) -> list[Job]:
    """Return the jobs that make a target from nothing, each after those that it needs. target: relative to
    the results folder."""
    with linked_project() as project:
        return common.in_new_process(
            _planned, project, target, [Path(file).resolve() for file in configfiles]
        )


def _planned(project: Path, target: str, configfiles: Sequence[Path]) -> list[Job]:
    from snakemake.api import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings, SnakemakeApi

    os.chdir(project)
    with SnakemakeApi(OutputSettings(quiet=["all"])) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1024),  # so that no job's threads are cut down
            config_settings=ConfigSettings(configfiles=list(configfiles), config={"results": RESULTS}),
            snakefile=Path("Snakefile"),
            workdir=project,
        )
        plan = workflow.dag(DAGSettings(targets={f"{RESULTS}/{target}"}, forceall=True))
        with contextlib.redirect_stdout(io.StringIO()):
            plan.printd3dag()  # the least that builds the plan
        dag = workflow._workflow.dag
        levels = [sorted(level, key=lambda job: job.jobid) for level in dag.toposorted()]
        ids = {job: number for number, job in enumerate(itertools.chain(*levels))}
        return [_job(job, ids, dag) for job in ids]


def _job(job, ids: dict, dag) -> Job:
    plain = {key: getattr(job, key)._plainstrings() for key in ("input", "output", "log")}
    limits = {
        key: value
        for key, value in job.resources.items()
        if isinstance(value, int) and not key.startswith("_") and not key.endswith("_mib")
    }
    return Job(
        ids[job],
        job.rule.name,
        tuple(sorted(ids[other] for other in dag.dependencies[job])),
        job.rule.script and Path(job.rule.script).name,
        job.benchmark and str(job.benchmark),
        tuple(str(path) for path in job.output if path.is_temp),
        job.threads,
        job.rule.priority,
        limits,
        {**plain, "params": job.params, "wildcards": job.wildcards, "threads": job.threads},
    )


def with_costs(jobs: Sequence[Job], results: Path) -> pd.DataFrame:
    """Return a row for each job: job, wall_s and processor_s, as its benchmark file has them; 0 of a job that
    asks for none.

    A job too short to be looked at has no processor seconds of its own; it gets its wall-clock seconds.
    Raises PolyrewardError with all jobs that have not run."""
    rows, missing = [], []
    for job in jobs:
        path = job.benchmark and Path(results, Path(job.benchmark).relative_to(RESULTS))
        if path and not path.exists():
            missing.append(job.name)
            continue
        found = (
            pd.read_csv(path, sep="\t", na_values=["-", "NA"]).iloc[-1]
            if path
            else {"s": 0.0, "cpu_time": 0.0}
        )
        rows.append(
            {"job": job, "wall_s": float(found["s"]), "processor_s": float(found["cpu_time"] or found["s"])}
        )
    if missing:
        raise PolyrewardError(
            f"{results}: has no benchmark files of {', '.join(missing)}; make the target there first"
        )
    return pd.DataFrame(rows)
