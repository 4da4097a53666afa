"""The catalogs: what models, datasets, benchmarks, languages and judges' questions there are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jsonschema import Draft202012Validator

from polyreward.config.languages import with_folders
from polyreward.config.project import Project
from polyreward.core.errors import raise_all
from polyreward.core.yaml_files import read_yaml

FILES = {
    "models": "workflow/catalog/models.yaml",
    "reward_models": "workflow/catalog/reward_models.yaml",
    "datasets": "workflow/catalog/datasets.yaml",
    "benchmarks": "workflow/catalog/benchmarks.yaml",
    "languages": "resources/languages.yaml",
    "judge_questions": "workflow/catalog/judge_questions.yaml",
    "judge_wordings": "workflow/catalog/judge_wordings.yaml",
}
SCHEMAS = Path(__file__).parents[3] / "schemas"


@dataclass(frozen=True)
class Known:
    """The catalogs, {name: entry} each; languages are also those of language_folders."""

    models: dict
    reward_models: dict
    datasets: dict
    benchmarks: dict
    languages: dict
    judge_questions: dict = field(default_factory=dict)
    judge_wordings: dict = field(default_factory=dict)


def read_catalogs(project: Project, folders: dict[str, str], below: Path) -> Known:
    """Return a project's catalogs, with the languages that bring folders; below: where these are."""
    catalogs = {name: project.found(read_checked(project.root / path)) for name, path in FILES.items()}
    catalogs["languages"] = with_folders(catalogs["languages"], folders, below)
    return Known(**catalogs)


def read_checked(path: Path, read: Callable = read_yaml) -> dict:
    """Read a file that may have a schema of its name; raise PolyrewardError with all that does not fit it.

    Snakemake's own `validate` names only the first, and reads schemas with YAML's slow parser."""
    data, schema = read(path), SCHEMAS / f"{path.name.split('.')[0]}.schema.yaml"
    if schema.is_file():
        errors = Draft202012Validator(read_yaml(schema)).iter_errors(data)
        places = ((".".join(map(str, error.absolute_path)), error.message) for error in errors)
        raise_all(sorted(f"{place or 'the file'}: {message}" for place, message in places), str(path))
    return data
