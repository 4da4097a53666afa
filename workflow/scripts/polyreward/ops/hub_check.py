"""Find what the hub will refuse of a scale before anything is spent: access, heads, columns, all at once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.ops.planning import Job, planned_jobs
from polyreward.sources.hub import DATASETS, MODELS, commit_of, fetched, may_read
from polyreward.sources.hub_data import hub_rows


@dataclass(frozen=True)
class Wanted:
    """One repository of a scale. entry: a dataset's. head: a reward is read from the model's head."""

    kind: str
    repository: str
    revision: str
    names: tuple[str, ...]
    head: bool = False
    remote_code: bool = False
    entry: dict | None = None


def check_hub(configfiles: Sequence[str], root: Path, with_data: bool) -> list[str]:
    """Return a line for each repository of a scale that can be used, by the hub's small files.

    Args:
        configfiles: overlays on config.yaml.
        root: the project's folder.
        with_data: also fetch the datasets and read their columns.

    Raises:
        PolyrewardError: lists all that cannot be used, and what to do about each.
    """
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
    hub_names = {entry["hub"]: name for name, entry in entries.items() if "hub" in entry}
    for job in planned_jobs(["all"], configfiles, root):
        for one in _fetched(job, hub_names):
            found.setdefault((one.kind, one.repository, one.revision), []).append(one)
    repositories = []
    for same in found.values():
        first = max(same, key=lambda one: one.head)
        names = dict.fromkeys(name for one in same for name in one.names)
        repositories.append(Wanted(**{**vars(first), "names": tuple(names)}))
    return repositories


def _fetched(job: Job, hub_names: Mapping[str, str]) -> Iterator[Wanted]:
    """Yield what a job fetches, or loads after another job has fetched it."""
    if job.rule in ("base_model", "dataset"):
        entry = job.params["entry"]
        kind, name = DATASETS, job.wildcards.get("dataset")
        if job.rule == "base_model":
            kind, name, entry = MODELS, job.wildcards.get("base"), entry["source"]
        if entry["kind"] == "hub":
            yield Wanted(kind, entry["id"], entry["revision"], (name,), entry=entry)
    for one in job.held:
        if "hub" in one:
            name, revision = hub_names.get(one["hub"], one["hub"]), one.get("revision", "main")
            head, remote = one.get("kind") == "classifier", one.get("remote_code", False)
            yield Wanted(MODELS, one["hub"], revision, (name,), head, remote)


def _found(one: Wanted, with_data: bool) -> str:
    """Return in words what a repository has; raise PolyrewardError where it cannot be used."""
    may_read(one.repository, one.kind)
    commit = commit_of(one.repository, one.kind, one.revision)
    if one.kind == DATASETS:
        rows = (
            f"{len(hub_rows({**one.entry, 'revision': commit}, one.names[0]))} rows"
            if with_data
            else "readable"
        )
        return f"{rows} at {commit[:7]}"
    file = fetched(one.repository, MODELS, commit, ["config.json"]) / "config.json"
    where = f"model {one.repository} at {commit}"
    if not file.is_file():
        raise PolyrewardError(f"{where}: has no config.json; name a repository of transformers' layout")
    config = json.loads(file.read_text(encoding="utf-8"))
    architectures = config.get("architectures") or ["no architecture named"]
    if one.head:
        from polyreward.scoring.heads import head_of  # torch takes seconds to import

        head_of(SimpleNamespace(architectures=architectures), where, one.remote_code)
    return f"{architectures[0]} at {commit[:7]}"
