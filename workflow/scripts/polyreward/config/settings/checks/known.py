"""What checks of the settings go by: the catalogs, and files that must be there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from polyreward.config.settings.places import Key
from polyreward.config.settings.problems import Problem
from polyreward.settings.model import Settings


@dataclass(frozen=True)
class Known:
    """The catalogs, {name: entry} each; languages: those of resources/languages.yaml and of
    language_folders."""

    models: dict
    reward_models: dict
    datasets: dict
    benchmarks: dict
    languages: dict
    judge_questions: dict = field(default_factory=dict)


FILES = {
    "models": "workflow/catalog/models.yaml",
    "reward_models": "workflow/catalog/reward_models.yaml",
    "datasets": "workflow/catalog/datasets.yaml",
    "benchmarks": "workflow/catalog/benchmarks.yaml",
    "languages": "resources/languages.yaml",
    "judge_questions": "workflow/catalog/judge_questions.yaml",
}
Check = Callable[[Settings, Known], Iterator[Problem]]


def key_of(dotted: str) -> Key:
    """Return the key of a setting that is written with dots."""
    return tuple(dotted.split("."))


def no_file(key: Key, path: str) -> Iterator[Problem]:
    """Yield a problem where there is no such file."""
    if not Path(path).is_file():
        yield Problem(key, f"there is no file `{path}`; paths start at the project's folder")
