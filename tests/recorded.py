"""Jobs of a finished run, from Snakemake's records."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """A job of a finished run, identified by its log."""

    rule: str
    log: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    seconds: float


def jobs_made(folder: Path) -> list[Job]:
    """Return the jobs of a finished run in a checkout whose outputs all exist, sorted."""
    from snakemake.io import IOFile
    from snakemake.persistence.file import FilePersistence

    records, found = FilePersistence(nolock=True, path=folder / ".snakemake"), {}
    for path in sorted((folder / "results").rglob("*")):
        name = path.relative_to(folder).as_posix()
        record = records.metadata(IOFile(name))
        if record is not None and record.rule and record.log:
            found.setdefault(record.log[0], (record, []))[1].append(name)
    return [
        Job(record.rule, log, tuple(outputs), tuple(record.input or ()), record.endtime - record.starttime)
        for log, (record, outputs) in sorted(found.items())
    ]


def dependents(jobs: Sequence[Job], logs: Iterable[str]) -> set[str]:
    """Return the logs of some jobs and of all jobs that depend on them."""
    makers = {output: job.log for job in jobs for output in job.outputs}
    found, before = set(logs), None
    while found != before:
        before = set(found)
        found |= {job.log for job in jobs if any(makers.get(path) in found for path in job.inputs)}
    return found
