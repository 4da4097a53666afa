"""What made a file, back to raw data, from the records that Snakemake keeps of each job in
.snakemake/metadata."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from polyreward.core.codehash import code_of
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.core.seals import SUMS
from polyreward.ops.hardware import ran_on

CODE = re.compile(r"'([0-9a-f]{16})'")  # how a record shows the param that codehash.follow_code gives a rule
SCRIPT = re.compile(
    r"scripts/([\w./-]+\.py)\"\s*$"
)  # at the end of a record's `code`, the path of a script as its rule has it
SHOWN = 16  # digits of a hash that a text shows


@dataclass(frozen=True)
class Made:
    """A file or folder, and the job that made it; rule is None for what no job made: raw data, or a file
    without a record.

    sha256: of its content now; of a model's folder that of its SHA256SUMS, of any other folder None. code:
    the hash of the code that made it, as codehash has it; settings: of the job's params; environment: of its
    file of envs/. started: seconds of the system's clock; seconds: that it took. parents: its inputs. log: of
    the job, which tells it from others; machine: what it ran on, by that. changes: in words what is not as it
    was then."""

    path: str
    sha256: str | None
    rule: str | None = None
    script: str | None = None
    code: str | None = None
    settings: str | None = None
    environment: str | None = None
    seconds: float | None = None
    started: float | None = None
    parents: tuple[str, ...] = ()
    log: str | None = None
    machine: str | None = None
    changes: tuple[str, ...] = ()


class Records:
    """Snakemake's records in a project's folder; raises PolyrewardError where there are none."""

    def __init__(self, root: Path):
        from snakemake.persistence.file import FilePersistence

        if not (root / ".snakemake/metadata").is_dir():
            raise PolyrewardError(
                f"{root}: has no records of Snakemake (.snakemake/metadata); run this in the project's folder"
            )
        self.root = root
        self.records = FilePersistence(nolock=True, path=root / ".snakemake")

    def made(self, path: str) -> Made:
        """Return what is known of one file or folder; path: as the rules have it, relative to the project's
        folder."""
        from snakemake.io import IOFile

        record, sha256 = self.records.metadata(IOFile(path)), content_sha256(self.root / path)
        if record is None or record.rule is None:
            return Made(path, sha256)
        named = SCRIPT.search(record.code or "") if record.shellcmd is None else None
        script = f"workflow/scripts/{named[1]}" if named else None
        code, others = self._code(script, record.params or [])
        log = next(iter(record.log or []), None)
        environment = base64.b64decode(record.conda_env) if record.conda_env else None
        return Made(
            path,
            sha256,
            record.rule,
            script,
            code,
            settings=_digest(json.dumps(sorted(others)).encode()),
            environment=environment and self._environment(environment),
            seconds=round(record.endtime - record.starttime, 1),
            started=round(record.starttime, 1),
            parents=tuple(record.input or []),
            log=log,
            machine=ran_on(self.root / log) if log else None,
            changes=tuple(self._changes(script, code, record.input_checksums or {})),
        )

    def chain(self, path: str) -> list[Made]:
        """Return what is known of a file and of all that it was made of, each once, parents after what is
        made of them.

        Raises PolyrewardError where there is no such file."""
        if not (self.root / path).exists():
            raise PolyrewardError(f"{path}: no such file; make it first")
        found: dict[str, Made] = {}
        todo = [path]
        while todo:
            one = todo.pop(0)
            if one not in found:
                found[one] = self.made(one)
                todo += found[one].parents
        return list(found.values())

    def _code(self, script: str | None, params: list) -> tuple[str | None, list]:
        """Return the recorded hash of a job's code, and the params but for it."""
        hashes = [match[1] for param in params if (match := CODE.fullmatch(str(param)))]
        now = self._code_now(script)
        code = now if now in hashes else next(iter(hashes), None)
        return code, [str(param) for param in params if param != f"'{code}'"]

    def _code_now(self, script: str | None) -> str | None:
        path = self.root / script if script else None
        package = self.root / "workflow/scripts/polyreward"
        return code_of(path, package) if path and path.is_file() else None

    def _environment(self, content: bytes) -> str:
        same = [
            path.name for path in sorted((self.root / "envs").glob("*.yaml")) if path.read_bytes() == content
        ]
        return f"{same[0] if same else 'one that envs/ has no more'} {_digest(content)}"

    def _changes(self, script: str | None, code: str | None, told: dict[str, str]) -> Iterator[str]:
        if code != self._code_now(script):
            yield f"the code of {script} is another now"
        for path, checksum in sorted(told.items()):
            if (self.root / path).is_file() and checksum != f"sha256:{sha256_of(self.root / path)}":
                yield f"{path} is another now"


def content_sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of a folder's SHA256SUMS; None where there is neither."""
    file = path / SUMS if path.is_dir() else path
    return sha256_of(file) if file.is_file() else None


def chain_text(chain: list[Made], root: Path) -> str:
    """Return a chain as a person reads it: the file, what it was made of, and so on; raw data last."""
    made, raw = ([one for one in chain if (one.rule is not None) == whether] for whether in (True, False))
    lines = []
    for one in made:
        lines += [f"{one.path}  sha256 {one.sha256}", f"    rule {one.rule} ({one.script}), {one.seconds} s"]
        lines += [f"    ran on {one.machine}"] if one.machine else []
        lines.append(
            f"    code {one.code}, settings {_cut(one.settings)}, environment {_cut(one.environment)}"
        )
        lines += [
            f"    {'from' if not number else '    '} {parent}" for number, parent in enumerate(one.parents)
        ]
        lines += [f"    CHANGED since: {change}" for change in one.changes]
    lines += ["", "No job made these; they are raw data, or Snakemake has no record of them:"] if raw else []
    lines += [f"{one.path}  sha256 {one.sha256}" for one in raw]
    lock = content_sha256(root / "requirements.lock")
    return "\n".join([*lines, "", f"requirements.lock, of which envs/ is made: sha256 {lock}"])


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _cut(text: str | None) -> str | None:
    return text and re.sub(rf"([0-9a-f]{{{SHOWN}}})[0-9a-f]+", r"\1", text)
