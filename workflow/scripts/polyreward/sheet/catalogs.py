"""The catalogs: what models, datasets, benchmarks, languages and judges' questions there are."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from polyreward.core.errors import raise_all
from polyreward.core.project import ROOT
from polyreward.core.yaml_files import read_yaml
from polyreward.sheet.languages import with_folders

FILES = {
    "models": "workflow/catalog/models.yaml",
    "reward_models": "workflow/catalog/reward_models.yaml",
    "datasets": "workflow/catalog/datasets.yaml",
    "benchmarks": "workflow/catalog/benchmarks.yaml",
    "languages": "resources/languages.yaml",
    "judge_questions": "workflow/catalog/judge_questions.yaml",
    "judge_wordings": "workflow/catalog/judge_wordings.yaml",
}
SCHEMAS = ROOT / "workflow/schemas"
OWN = ("resources/", "workflow/")  # how paths begin that the project's settings and catalogs name


@dataclass(frozen=True)
class Project:
    """Where the project's own files are, also where another workflow uses this one as a module.

    root: its checkout. revisions: the hub's locked commits, {model or dataset: {repository: {revision:
    commit}}}."""

    root: Path
    revisions: dict = field(default_factory=dict)

    def locked(self, kind: str, repository: str, revision: str) -> str | None:
        """Return the locked commit of a hub repository's revision, or None."""
        return self.revisions.get(kind, {}).get(repository, {}).get(revision)

    @property
    def runs_here(self) -> bool:
        """Whether Snakemake runs in the checkout."""
        return Path.cwd() == self.root.resolve()

    def file(self, path: str) -> str:
        """Return a path of the project as jobs have it.

        In the checkout it is as it was written, so that no result says where the checkout is."""
        return path if self.runs_here else str(self.root / path)

    def found(self, settings: Any) -> Any:
        """Return settings whose paths lead to the project; a file of that name here counts first."""
        if self.runs_here:
            return settings
        if isinstance(settings, dict):
            return {key: self.found(value) for key, value in settings.items()}
        if isinstance(settings, list):
            return [self.found(value) for value in settings]
        is_own = isinstance(settings, str) and settings.startswith(OWN) and not Path(settings).exists()
        return self.file(settings) if is_own and (self.root / settings).exists() else settings


@dataclass(frozen=True)
class Catalog:
    """The catalogs, {name: entry} each; languages are also those of language_folders."""

    models: dict
    reward_models: dict
    datasets: dict
    benchmarks: dict
    languages: dict
    judge_questions: dict = field(default_factory=dict)
    judge_wordings: dict = field(default_factory=dict)

    def benchmark(self, name: str) -> dict:
        """Return the arguments of comparison.Benchmark."""
        facts = self.benchmarks[name]
        return {"name": name, **{key: facts[key] for key in ("sections", "weights")}}

    def categories(self, benchmark: str) -> dict[str, str]:
        """Return {subset: section} of a benchmark."""
        sections = self.benchmarks[benchmark]["sections"]
        return {subset: section for section, subsets in sections.items() for subset in subsets}

    def kinds(self, benchmark: str) -> dict[str, list[str]]:
        """Return {subset or section: kinds of rejected answers} of a benchmark, as prepare.kinds has them."""
        return self.benchmarks[benchmark].get("kinds", {})

    def stock(self, benchmark: str) -> list[str]:
        """Return the file of stock sentences that a benchmark's kinds use, if there is one."""
        return [*filter(None, [self.benchmarks[benchmark].get("stock")])]

    def facts(self, key: str, languages: Iterable[str]) -> dict[str, str]:
        """Return {language: its name, script or another fact of resources/languages.yaml}."""
        return {language: self.languages[language][key] for language in languages}

    def by_script(self, languages: Sequence[str]) -> list[list[str]]:
        """Return the languages not in Latin letters, then those that are; no empty group."""
        scripts = self.facts("script", languages)
        groups = ([one for one in languages if (scripts[one] == "Latn") == latin] for latin in (False, True))
        return [group for group in groups if group]

    def covers_part(self, language: str) -> bool:
        """Say whether a language brings a part of the templates and passages, as its language.yaml says."""
        return self.languages.get(language, {}).get("coverage") == "part"


def read_catalogs(project: Project, folders: dict[str, str], below: Path) -> Catalog:
    """Return a project's catalogs, with the languages that bring folders; below: where these are."""
    catalogs = {name: project.found(read_checked(project.root / path)) for name, path in FILES.items()}
    catalogs["languages"] = with_folders(catalogs["languages"], folders, below)
    return Catalog(**catalogs)


def read_checked(path: Path, read: Callable = read_yaml) -> dict:
    """Read a file that may have a schema of its name; raise PolyrewardError with all that does not fit it.

    Snakemake's own `validate` names only the first, and reads schemas with YAML's slow parser."""
    data, schema = read(path), SCHEMAS / f"{path.name.split('.')[0]}.schema.yaml"
    if schema.is_file():
        errors = Draft202012Validator(read_yaml(schema)).iter_errors(data)
        places = ((".".join(map(str, error.absolute_path)), error.message) for error in errors)
        raise_all(sorted(f"{place or 'the file'}: {message}" for place, message in places), str(path))
    return data
