"""A run as a Provenance Run Crate of RO-Crate 1.1: what came out, the code and settings that made it, and
each job.

Written by the library rocrate, of the optional dependencies `crate`. Profile:
https://w3id.org/ro/wfrun/provenance/0.5"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import sha256_of, whole_folder
from polyreward.core.seals import intact
from polyreward.ops.bundle import packed
from polyreward.ops.provenance import Made, Records

PROFILES = {
    "process": "Process Run Crate",
    "workflow": "Workflow Run Crate",
    "provenance": "Provenance Run Crate",
}
PROFILE, VERSION = "https://w3id.org/ro/wfrun/{}/0.5", "0.5"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
# Beyond the terms of RO-Crate 1.1; spelled out, so that a crate is read without a network but for RO-Crate's
# own context.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
CODE = (
    "Snakefile",
    "config.yaml",
    "workflow",
    "envs",
    "requirements.lock",
    "LICENSE",
    "NOTICE",
    "CITATION.cff",
)  # of the project
SNAKEMAKE = "https://snakemake.github.io"
DONE = "http://schema.org/CompletedActionStatus"


def write_crate(results: Path, artifacts: list[str], records: Records, folder: Path) -> int:
    """Write a crate of a results folder (relative to the project's) into a new folder; returns the number of
    jobs it tells of.

    artifacts: all files of artifacts, relative to results. Weights, hidden states and texts that are made on
    the way are named with their sha256 and left out. Raises PolyrewardError where the library is missing, a
    job's code or inputs changed since, or the folder is there."""
    try:
        from rocrate.rocrate import ROCrate  # pyright: ignore[reportMissingImports] - optional
    except ImportError:
        raise PolyrewardError(
            "a crate is written by rocrate, which is not installed; `make crate` installs it"
        ) from None
    if folder.exists():
        raise PolyrewardError(f"{folder}: is there already; name a folder that is not")
    made = {one.path: one for name in artifacts for one in records.chain((results / name).as_posix())}
    changes = (f"{one.path}: {change}" for one in made.values() for change in one.changes)
    raise_all(
        changes, f"{results}: not all is as it was when it was made; run the command that makes it again"
    )
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms.update(TERMS)
    files = {(results / name).as_posix() for name in packed(results, artifacts, made)}
    jobs = _Crate(crate, records.root, made).fill(files, [(results / name).as_posix() for name in artifacts])
    with whole_folder(folder) as temporary:
        crate.write(temporary)
    return jobs


class _Crate:
    """A crate that is being filled; root: the project's folder, made: {path: what is known of it}."""

    def __init__(self, crate: Any, root: Path, made: dict[str, Made]):
        self.crate, self.root, self.made = crate, root, made
        self.entities: dict[str, Any] = {}

    def fill(self, files: set[str], artifacts: list[str]) -> int:
        """Put in the code, the files, and an action for each job and for the run; returns the number of
        jobs."""
        self._describe()
        workflow = self._workflow()
        raw = {
            path
            for path, one in self.made.items()
            if one.rule is None and path.startswith(CODE + ("resources/",))
        }
        for path in sorted(files | raw):
            self._file(path)
        actions = [self._action(jobs) for jobs in self._jobs()]
        workflow["hasPart"] = list(
            {tool.id: tool for tool in (action["instrument"] for action in actions)}.values()
        )
        ends = max((action["endTime"] for action in actions), default=None)
        self.crate.root_dataset["datePublished"] = ends
        run = self.crate.add_action(
            workflow,
            "#run",
            object=[self._of(path) for path, one in sorted(self.made.items()) if one.rule is None],
            result=[self._of(path) for path in artifacts],
            properties={"name": "The run of the workflow", "endTime": ends, "actionStatus": {"@id": DONE}},
        )
        self.crate.root_dataset["mentions"] = [run, *actions]
        return len(actions)

    def _describe(self) -> None:
        root = self.crate.root_dataset
        root["name"] = "Tables and figures on multilingual reward models, with what made them"
        root["description"] = (
            "Artifacts, scores and analysis of a run of polyreward, its code and settings, and each job with"
            " its inputs, outputs, seconds and machine. What a file is not here of, such as a model, is named"
            " with the SHA-256 of its content."
        )
        root["license"] = "MIT for the code; models and data have their own terms: see NOTICE"
        profiles = {PROFILE.format(name): title for name, title in PROFILES.items()} | {
            WORKFLOW_CRATE: "Workflow RO-Crate"
        }
        root["conformsTo"] = [
            self._named(
                address,
                ["CreativeWork", "Profile"],
                title,
                version="1.0" if address == WORKFLOW_CRATE else VERSION,
            )
            for address, title in profiles.items()
        ]

    def _workflow(self) -> Any:
        """Add the project's code, and return the Snakefile, the main entity."""
        from snakemake import __version__

        workflow = self.crate.add_workflow(
            self.root / "Snakefile",
            "Snakefile",
            main=True,
            lang="snakemake",
            lang_version=__version__,
            properties={"name": "polyreward", "sha256": sha256_of(self.root / "Snakefile")},
        )
        self.entities["Snakefile"] = workflow
        for name in CODE:
            path = self.root / name
            below = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in below:
                inside = file.relative_to(self.root)
                if file.is_file() and not any(part.startswith((".", "__pycache__")) for part in inside.parts):
                    self._file(inside.as_posix())
        return workflow

    def _file(self, path: str) -> Any:
        """Add a file with its content; scores are checked to be as they were made."""
        if path not in self.entities:
            file = self.root / path
            intact(file) if file.suffix == ".parquet" else None
            types = ["File", "SoftwareSourceCode"] if file.suffix == ".py" else "File"
            facts = {"@type": types, "name": path, "sha256": sha256_of(file)}
            self.entities[path] = self.crate.add_file(file, path, record_size=True, properties=facts)
        return self.entities[path]

    def _of(self, path: str) -> Any:
        """Return the entity of a file, or of one that is left out."""
        if path not in self.entities:
            sha256 = self.made[path].sha256 if path in self.made else None
            self.entities[path] = self._named(
                f"#{path}", "CreativeWork", path, **({"sha256": sha256} if sha256 else {})
            )
        return self.entities[path]

    def _named(self, identifier: str, kind: str | list[str], name: str, **facts: Any) -> Any:
        return self.crate.add_jsonld({"@id": identifier, "@type": kind, "name": name, **facts})

    def _jobs(self) -> Iterator[list[Made]]:
        """Yield what each job made, by its log, or by the one file that it made where it has none."""
        jobs: dict[str, list[Made]] = defaultdict(list)
        for path, one in sorted(self.made.items()):
            if one.rule is not None:
                jobs[one.log or path].append(one)
        return iter(jobs.values())

    def _action(self, outputs: list[Made]) -> Any:
        """Add the action of a job; outputs: what it made of all that is told of."""
        one = outputs[0]
        tool = self._file(one.script) if one.script else self._shell(one.rule)
        said = [f"{one.seconds} s"]
        said += [
            f"{word} {value}"
            for word, value in (
                ("on", one.machine),
                ("code", one.code),
                ("settings", one.settings),
                ("environment", one.environment),
            )
            if value
        ]
        return self.crate.add_action(
            tool,
            f"#job/{one.log or one.path}",
            object=[self._of(parent) for parent in one.parents],
            result=[self._of(output.path) for output in outputs],
            properties={
                "name": f"{one.rule}: {one.path}",
                "description": "; ".join(said),
                "startTime": _iso(one.started),
                "endTime": _iso((one.started or 0) + (one.seconds or 0)),
                "actionStatus": {"@id": DONE},
            },
        )

    def _shell(self, rule: str | None) -> Any:
        """Return the tool of a rule that is a line of shell."""
        name = f"#rule/{rule}"
        if name not in self.entities:
            self.entities[name] = self._named(
                name, "SoftwareApplication", f"rule {rule}", softwareVersion="see the rule", url=SNAKEMAKE
            )
        return self.entities[name]


def _iso(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds or 0, UTC).isoformat(timespec="seconds")
