"""The commit of a hub repository's branch or tag when it was fetched, so that all jobs use the same one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from polyreward.core.errors import PolyrewardError, UnavailableError, first_line, how_to_retry
from polyreward.core.files import write_text
from polyreward.core.logs import announce
from polyreward.core.yaml_files import read_yaml


def at_commit(source: dict, records: Sequence[str]) -> dict:
    """Return a hub source at the commit that its record names, if there is one.

    Raises:
        UnavailableError: the hub gave no commit.
    """
    if not records:
        return source
    record = read_yaml(records[0])
    if "missing" in record:
        raise UnavailableError(record["missing"])
    return {**source, "revision": record["commit"]}


def record_revision(
    repository: str,
    kind: str,
    revision: str,
    known: str | None,
    path: str | Path,
    may_be_missing: bool = False,
) -> None:
    """Write {repository, kind, revision, commit}, the same before and after the commit is locked.

    Args:
        known: the locked commit; None to ask the hub.
        may_be_missing: of an unavailable model, write the reason as `missing`, which loading it reports.
    """
    from polyreward.sources.hub import commit_of  # the hub's client takes a moment to import

    record = {"repository": repository, "kind": kind, "revision": revision}
    try:
        found = {"commit": known or commit_of(repository, kind, revision)}
    except UnavailableError as error:
        if not may_be_missing or kind != "model":
            raise
        found = {"missing": first_line(error)}
        announce(f"{error}\n{how_to_retry(path)}")
    write_text(yaml.safe_dump({**record, **found}, sort_keys=False), path)


def write_lock(folder: str | Path, lock: str | Path) -> dict[str, dict[str, dict[str, str]]]:
    """Add the commits of a folder of records to the lock file; return its content, as `read_lock` does.

    Raises:
        PolyrewardError: there is no record.
    """
    records = [read_yaml(path) for path in sorted(Path(folder).glob("*/*.yaml"))]
    if not records:
        raise PolyrewardError(
            f"{folder}: no resolved revision; run `snakemake --until hub_revision` at that scale first"
        )
    content = read_lock(lock)
    for record in (record for record in records if "commit" in record):
        repositories = content.setdefault(record["kind"], {})
        repositories.setdefault(record["repository"], {})[record["revision"]] = record["commit"]
    note = (
        "# Commits of the hub's moving revisions, as `polyreward lock` found them: {kind: {repository:"
        " {revision: commit}}}.\n"
    )
    write_text(note + yaml.safe_dump(content), lock)
    return content


def read_lock(lock: str | Path) -> dict[str, dict[str, dict[str, str]]]:
    """Return the content of the lock file: {kind: {repository: {revision: commit}}}."""
    return read_yaml(lock) or {}


def locked(lock: Mapping, kind: str, repository: str, revision: str) -> str | None:
    """Return a revision's locked commit, or None."""
    return lock.get(kind, {}).get(repository, {}).get(revision)
