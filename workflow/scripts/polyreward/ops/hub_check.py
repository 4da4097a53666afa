"""Find what the hub will refuse of a scale before anything is spent: access, heads, columns, all at once."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from huggingface_hub import constants

from polyreward.core.errors import PolyrewardError, UnavailableError, first_line, is_outage, raise_all
from polyreward.core.naming import hub_name, stage
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.planning import planned_jobs
from polyreward.ops.resources import Job
from polyreward.sheet.data import dataset_entry
from polyreward.sheet.entries import Models, read_models
from polyreward.sheet.scorers import published
from polyreward.sources.hub import DATASETS, MODELS, commit_of, fetched, is_cached, may_read
from polyreward.sources.judge_wordings import published_question
from polyreward.sources.revisions import locked

Repositories = dict[tuple[str, str, str], dict[str, dict]]
AT_ONCE = 8  # repositories that the hub is asked for at once


def check_hub(configfiles: Sequence[str], root: Path, with_data: bool) -> list[str]:
    """Return a line for each repository of a scale that can be used, by the hub's small files, and for each
    question to judges whose published words it fetches.

    with_data: also fetch the datasets and read their columns. Raises PolyrewardError with all that cannot be
    used, and what to do about each.
    """
    checks = [
        partial(_repository_found, *key, entries, with_data)
        for key, entries in wanted(configfiles, root).items()
    ]
    models = read_models(configfiles, root)
    for name, wording in models.catalog.judge_wordings.items():
        if models.is_fetched(name):
            checks.append(partial(_question_found, name, wording))
    lines, problems = [], []
    for check in checks:
        try:
            lines.append(check())
        except PolyrewardError as error:
            problems.append(str(error).replace("\n", "\n    "))
    raise_all(problems, "hub-check")
    return lines


def _repository_found(kind: str, repository: str, revision: str, entries: dict, with_data: bool) -> str:
    may_read(repository, kind)
    commit = commit_of(repository, kind, revision)
    if kind == MODELS:
        found = _head(repository, commit, entries.values())
    elif with_data:
        from polyreward.sources.hub_data import hub_rows  # takes seconds to import

        name, entry = next(iter(entries.items()))
        found = f"{len(hub_rows({**entry, 'revision': commit}, name))} rows"
    else:
        found = "readable"
    return f"{kind} {repository}: {found} at {commit[:7]} ({', '.join(entries)})"


def _question_found(name: str, wording: dict) -> str:
    published_question(wording)
    return f"question {name}: its published words ({wording['url']})"


def hub_problems(jobs: Iterable[Job], models: Models, lock: Mapping) -> list[str]:
    """Return what the hub would refuse to jobs that fetch from it: access, or a dataset's columns.

    What is cached is not asked for. What is not checked, and which models will be empty rows, is printed.
    lock: locked revisions.
    """
    asked = {}
    for (kind, repository, revision), entries in fetched_by(jobs, models).items():
        record = Path(
            stage(
                models.settings.results, "sources", f"revisions/{kind}/{hub_name(repository, revision)}.yaml"
            )
        )  # of an earlier run
        recorded = read_yaml(record).get("commit") if record.is_file() else None
        commit = recorded or locked(lock, kind, repository, revision) or revision
        if not Path(repository).is_dir() and not is_cached(repository, kind, commit):
            asked[kind, repository, commit] = entries
    if not asked:
        return []
    if constants.HF_HUB_OFFLINE:
        _say(f"{len(asked)} repositories are not checked, since HF_HUB_OFFLINE is set")
        return []
    from polyreward.sources.hub_data import column_problems  # takes seconds to import

    with ThreadPoolExecutor(AT_ONCE) as pool:
        errors = list(pool.map(_refusal, asked))
    rows = published(models.settings, models.catalog).values()
    optional = {one["hub"] for row in rows for one in (row, row.get("reference", {})) if "hub" in one}
    problems, unanswered = [], []
    for ((kind, repository, commit), entries), error in zip(asked.items(), errors, strict=True):
        if error is None and kind == DATASETS and not unanswered:
            try:
                for name, entry in entries.items():
                    problems += column_problems({**entry, "revision": commit}, name)
            except Exception as failed:  # of many libraries; a check that fails itself stops no run
                error = failed
        if error is None:
            continue
        if not _says_no(error):
            unanswered.append(first_line(error))
        elif repository not in optional or not isinstance(error, UnavailableError):
            problems.append(str(error))
        elif models.settings.missing == "row":
            _say(f"{', '.join(entries)}: empty rows (`missing: row`), unless this changes: {error}")
        else:
            problems.append(f"{error}; or set `missing: row`, and its rows are empty")
    if unanswered:
        _say(f"access and columns are not all checked, since it did not answer: {unanswered[0]}")
    return problems


def _refusal(key: tuple[str, str, str]) -> PolyrewardError | None:
    kind, repository, revision = key
    try:
        may_read(repository, kind)
        commit_of(repository, kind, revision)
    except PolyrewardError as error:
        return error


def _says_no(error: Exception) -> bool:
    """Return whether an error is the hub's or a check's answer, and no outage."""
    status = getattr(getattr(error.__cause__, "response", None), "status_code", None)
    refused = isinstance(error, UnavailableError) or status == 401  # it knows no such token
    return refused or (isinstance(error, PolyrewardError) and not is_outage(error))


def _say(text: str) -> None:
    print(f"hub: {text}", file=sys.stderr)


def wanted(configfiles: Sequence[str], root: Path) -> Repositories:
    """Return {(kind, repository, revision): {name: entry}} of what a scale's jobs fetch from the hub."""
    return fetched_by(planned_jobs(["all"], configfiles, root), read_models(configfiles, root))


def fetched_by(jobs: Iterable[Job], models: Models) -> Repositories:
    """Return the same of some jobs."""
    found: Repositories = {}

    def add(kind: str, name: str, entry: dict) -> None:
        if entry["kind"] == "hub":
            found.setdefault((kind, entry["id"], entry["revision"]), {})[name] = entry

    for job in jobs:
        if job.rule == "hub_model":
            at = models.hub[MODELS, job.wildcards["repository"]]
            found.setdefault((MODELS, *at), {}).update(models.hub_entries[at])
        elif job.rule == "base_model":
            add(MODELS, job.wildcards["base"], models.catalog.models[job.wildcards["base"]]["source"])
        elif job.rule == "dataset":
            add(
                DATASETS,
                job.wildcards["dataset"],
                dataset_entry(models.settings, models.catalog, job.wildcards["dataset"]),
            )
    return found


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
