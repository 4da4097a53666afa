"""The settings of a scale: a class per section of config.yaml gives its checks, schema and reference."""

from collections.abc import Iterable

from polyreward.config.catalogs import FILES, Known
from polyreward.config.settings.checks import fit_problems
from polyreward.config.settings.messages import Places, Problem, type_problems, unknown_names
from polyreward.core.errors import raise_all
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import RewardModels


def parsed_settings(config: dict, places: Places) -> Settings:
    """Return a configuration's settings; raise PolyrewardError with the place of each wrong key and type."""
    _raise(type_problems(Settings, config), places)
    return Settings.model_validate(config)


def check_fit(settings: Settings, known: Known, places: Places) -> None:
    """Raise PolyrewardError with all that does not fit together, in the order of the files."""
    _raise(fit_problems(settings, known), places)


def _raise(problems: Iterable[Problem], places: Places) -> None:
    ordered = sorted(problems, key=lambda problem: places.rank(problem.key))
    raise_all((problem.placed(places) for problem in ordered), "configuration")


def check_catalogs(known: Known) -> None:
    """Raise PolyrewardError that lists wrong entries of reward models, and benchmarks of unknown datasets."""
    entries, benchmarks = Places([FILES["reward_models"]]), Places([FILES["benchmarks"]])
    problems = [problem.placed(entries) for problem in type_problems(RewardModels, known.reward_models)]
    for name, one in known.benchmarks.items():
        unknown = unknown_names((name, "dataset"), [one["dataset"]], known.datasets, FILES["datasets"])
        problems += [problem.placed(benchmarks) for problem in unknown]
    raise_all(problems, "workflow/catalog")
