"""What made a file, back to raw data, by Snakemake's records of each job."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from polyreward.core.codehash import code_of
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.core.seals import SUMS
from polyreward.ops.workflow import job_records

CODE = re.compile(r"'([0-9a-f]{16})'")  # how a record shows the param `code` that follow_code gives a rule
SCRIPT = re.compile(r"scripts/([\w./-]+\.py)\"\s*$")  # ends a record's `code` where the rule runs a script


@dataclass(frozen=True)
class Made:
    """A file or folder and the job that made it. Without a rule it is raw data, or has no record.

    sha256: of the content now, or of a folder's SHA256SUMS. code: hash of the job's. changes: since then.
    """

    path: str
    sha256: str | None
    rule: str | None = None
    script: str | None = None
    code: str | None = None
    seconds: float | None = None
    parents: tuple[str, ...] = ()
    log: str | None = None
    changes: tuple[str, ...] = ()


def chain(root: Path, paths: Iterable[str]) -> list[Made]:
    """Return what made files and all that they were made of, each once, parents last.

    paths: relative to root. Raises PolyrewardError where there is no such file, or no record at all.
    """
    record_of, found, todo = job_records(root), {}, list(paths)
    missing = [path for path in todo if not (root / path).exists()]
    if missing:
        raise PolyrewardError(f"{missing[0]}: no such file; make it first")
    while todo:
        path = todo.pop(0)
        if path not in found:
            found[path] = _made(root, path, record_of(path))
            todo += found[path].parents
    return list(found.values())


def _made(root: Path, path: str, record) -> Made:
    sha256 = _content_sha256(root / path)
    if record is None:
        return Made(path, sha256)
    named = SCRIPT.search(record.code or "") if record.shellcmd is None else None
    script = f"workflow/scripts/{named[1]}" if named else None
    there = script and (root / script).is_file()
    now = code_of(root / script, root / "workflow/scripts/polyreward") if there else None
    params = [str(param) for param in record.params or []]
    hashes = [match[1] for param in params if (match := CODE.fullmatch(param))]
    code = now if now in hashes else next(iter(hashes), None)
    changes = [] if code == now else [f"the code of {script} changed"]
    for name, checksum in sorted((record.input_checksums or {}).items()):
        if (root / name).is_file() and checksum != f"sha256:{sha256_of(root / name)}":
            changes.append(f"{name} changed")
    return Made(
        path,
        sha256,
        record.rule,
        script,
        code,
        seconds=round(record.endtime - record.starttime, 1),
        parents=tuple(record.input or []),
        log=next(iter(record.log or []), None),
        changes=tuple(changes),
    )


def _content_sha256(path: Path) -> str | None:
    file = path / SUMS if path.is_dir() else path
    return sha256_of(file) if file.is_file() else None


def summary_text(found: list[Made]) -> str:
    """Return a chain of one file in a few lines."""
    file, made = found[0], [one for one in found if one.rule]
    raw, changes = (
        [one.path for one in found if not one.rule],
        [change for one in made for change in one.changes],
    )
    begin = f"{file.path}  sha256 {file.sha256}"
    maker = f"Made by: rule {file.rule} ({file.script}), log {file.log}" if file.rule else "Made by no job"
    changed = f"{len(changes)}, such as: {changes[0]}" if changes else "nothing"
    return "\n".join(
        [
            begin,
            maker,
            f"Behind it: {len(made)} files and folders by {len({one.rule for one in made})} rules",
            f"Raw data: {len(raw)}{f', such as {raw[0]}' if raw else ''}",
            f"CHANGED since: {changed}",
            "--all lists each of them with its checksum, code, inputs and log.",
        ]
    )


def chain_text(found: list[Made], root: Path) -> str:
    """Return a chain as text; raw data last."""
    lines, raw = [], []
    for one in found:
        begin = f"{one.path}  sha256 {one.sha256}"
        if one.rule is None:
            raw.append(begin)
            continue
        lines += [begin, f"    rule {one.rule} ({one.script}), {one.seconds} s"]
        lines.append(f"    code {one.code}, log {one.log}")
        lines += [f"    from {parent}" for parent in one.parents]
        lines += [f"    CHANGED since: {change}" for change in one.changes]
    if raw:
        lines += ["", "No job made these; they are raw data, or Snakemake has no record of them:", *raw]
    lock = _content_sha256(root / "requirements.lock")
    return "\n".join([*lines, "", f"requirements.lock, of which envs/ is made: sha256 {lock}"])
