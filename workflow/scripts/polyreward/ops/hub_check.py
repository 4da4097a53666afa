"""Find what the hub will refuse of a scale before anything is spent: access, heads, columns, all at once."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import Scale, read_scale
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.ops.planning import Job, planned_jobs
from polyreward.sources.hub import DATASETS, MODELS, commit_of, fetched, may_read
from polyreward.sources.hub_data import hub_rows
from polyreward.sources.judge_wordings import published_question


def check_hub(configfiles: Sequence[str], root: Path, with_data: bool) -> list[str]:
    """Return a line for each repository of a scale that can be used, by the hub's small files, and for each
    question to judges whose published words it fetches.

    Args:
        with_data: also fetch the datasets and read their columns.

    Raises:
        PolyrewardError: lists all that cannot be used, and what to do about each.
    """
    lines, problems = [], []
    for (kind, repository, revision), entries in wanted(configfiles, root).items():
        try:
            may_read(repository, kind)
            commit = commit_of(repository, kind, revision)
            if kind == MODELS:
                found = _head(repository, commit, entries.values())
            elif with_data:
                name, entry = next(iter(entries.items()))
                found = f"{len(hub_rows({**entry, 'revision': commit}, name))} rows"
            else:
                found = "readable"
            lines.append(f"{kind} {repository}: {found} at {commit[:7]} ({', '.join(entries)})")
        except PolyrewardError as error:
            problems.append(str(error).replace("\n", "\n    "))
    scale = read_scale(configfiles, root)
    for name, wording in scale.known.judge_wordings.items():
        if ModelFiles(scale).is_fetched(name):
            try:
                published_question(wording)
                lines.append(f"question {name}: its published words ({wording['url']})")
            except PolyrewardError as error:
                problems.append(str(error).replace("\n", "\n    "))
    raise_all(problems, "hub-check")
    return lines


def wanted(configfiles: Sequence[str], root: Path) -> dict[tuple[str, str, str], dict[str, dict]]:
    """Return {(kind, repository, revision): {name: entry}} of what a scale's jobs fetch from the hub."""
    scale, found = read_scale(configfiles, root), {}
    names = {
        entry["hub"]: name
        for name, entry in {**scale.known.reward_models, **scale.configured}.items()
        if "hub" in entry
    }
    for job in planned_jobs(["all"], configfiles, root):
        for kind, repository, name, entry in _fetched(job, scale, names):
            key = kind, repository, entry.get("revision", "main")
            found.setdefault(key, {}).setdefault(name, entry)
    return found


def _fetched(job: Job, scale: Scale, names: dict[str, str]) -> Iterator[tuple[str, str, str, dict]]:
    """Yield kind, repository, name and entry of what a job fetches, or loads after another has fetched it."""
    sources = []
    if job.rule == "base_model":
        sources = [(MODELS, job.wildcards.base, scale.known.models[job.wildcards.base]["source"])]
    elif job.rule == "dataset":
        sources = [(DATASETS, job.wildcards.dataset, scale.known.datasets[job.wildcards.dataset])]
    yield from ((kind, entry["id"], name, entry) for kind, name, entry in sources if entry["kind"] == "hub")
    for entry in job.held:
        if "hub" in entry:
            yield MODELS, entry["hub"], names.get(entry["hub"], entry["hub"]), entry


def _head(repository: str, commit: str, entries: Iterable[dict]) -> str:
    """Return a model's architecture; raise PolyrewardError where a reward cannot be read from its head."""
    file = fetched(repository, MODELS, commit, ["config.json"]) / "config.json"
    where = f"model {repository} at {commit}"
    if not file.is_file():
        raise PolyrewardError(f"{where}: has no config.json; name a repository of transformers' layout")
    config = json.loads(file.read_text(encoding="utf-8"))
    architectures = config.get("architectures") or ["no architecture named"]
    for entry in entries:
        if entry.get("kind") == "classifier":
            from polyreward.scoring.heads import head_of  # torch takes seconds to import

            head_of(SimpleNamespace(architectures=architectures), where, entry.get("remote_code", False))
    return architectures[0]
