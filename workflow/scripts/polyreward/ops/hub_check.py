"""What the hub will refuse of a scale, found before anything is spent: access, heads, columns; all problems
at once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.ops.planning.work import Job, planned_jobs
from polyreward.sources.hub import DATASETS, MODELS, commit_of, fetched, may_read
from polyreward.sources.hub_data import hub_rows


@dataclass(frozen=True)
class Wanted:
    """One repository of a scale. kind: of hub.MODELS and DATASETS. entry: a dataset's; head: whether a reward
    is read from it."""

    kind: str
    repository: str
    revision: str
    names: tuple[str, ...]
    head: bool = False
    remote_code: bool = False
    entry: dict | None = None


def check_hub(configfiles: Sequence[str], root: Path, with_data: bool) -> list[str]:
    """Return a line for each repository of a scale that can be used, after asking the hub for its small
    files.

    with_data: fetch the datasets, too, and read their columns. Raises PolyrewardError that lists all that
    cannot be used, and what to do about each."""
    lines, problems = [], []
    for one in wanted(configfiles, root):
        try:
            lines.append(f"{one.kind} {one.repository}: {_found(one, with_data)} ({', '.join(one.names)})")
        except PolyrewardError as error:
            problems.append(str(error).replace("\n", "\n    "))
    raise_all(problems, "hub-check")
    return lines


def wanted(configfiles: Sequence[str], root: Path) -> list[Wanted]:
    """Return the repositories of the hub that a scale's jobs fetch, each once."""
    scale, found = read_scale(configfiles, root), {}
    entries = {**scale.known.reward_models, **scale.configured}
    names = {entry["hub"]: name for name, entry in entries.items() if "hub" in entry}
    for job in planned_jobs(["all"], configfiles, root):
        for one in _fetched(job, names):
            found.setdefault((one.kind, one.repository, one.revision), []).append(one)
    return [_merged(same) for same in found.values()]


def _merged(same: list[Wanted]) -> Wanted:
    first = max(same, key=lambda one: one.head)
    return Wanted(
        **{**vars(first), "names": tuple(dict.fromkeys(name for one in same for name in one.names))}
    )


def _fetched(job: Job, names: Mapping[str, str]) -> Iterator[Wanted]:
    """Yield what a job fetches, or loads after another job has fetched it. names: of reward models."""
    if job.rule in ("base_model", "dataset"):
        kind, name = (MODELS, job.wildcards.get("base")) if job.rule == "base_model" else (DATASETS, None)
        entry = job.params["entry"]["source"] if kind == MODELS else job.params["entry"]
        if entry["kind"] == "hub":
            name = name or job.wildcards.get("dataset")
            yield Wanted(kind, entry["id"], entry["revision"], (name,), entry=entry)
    for held in job.held:
        for one in (held, held.get("reference") or {}):
            if "hub" in one:
                name, revision = names.get(one["hub"], one["hub"]), one.get("revision", "main")
                head, remote = one.get("kind") == "classifier", one.get("remote_code", False)
                yield Wanted(MODELS, one["hub"], revision, (name,), head, remote)


def _found(one: Wanted, with_data: bool) -> str:
    """Return what there is of a repository, in words; raises PolyrewardError where it cannot be used."""
    may_read(one.repository, one.kind)
    commit = commit_of(one.repository, one.kind, one.revision)
    if one.kind == MODELS:
        return f"{_architecture(one, commit)} at {commit[:7]}"
    if not with_data:
        return f"readable at {commit[:7]}"
    rows = hub_rows({**one.entry, "revision": commit}, one.names[0])
    return f"{len(rows)} rows at {commit[:7]}"


def _architecture(one: Wanted, commit: str) -> str:
    file = fetched(one.repository, MODELS, commit, ["config.json"]) / "config.json"
    where = f"model {one.repository} at {commit}"
    if not file.is_file():
        raise PolyrewardError(f"{where}: holds no config.json; name a repository of transformers' layout")
    architectures = json.loads(file.read_text(encoding="utf-8")).get("architectures") or [
        "no architecture named"
    ]
    if one.head:
        from polyreward.scoring.heads import head_of  # torch takes seconds to import

        head_of(SimpleNamespace(architectures=architectures), where, one.remote_code)
    return architectures[0]
