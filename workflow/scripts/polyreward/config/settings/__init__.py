"""The settings of a scale: a class per section of config.yaml gives its checks, schema and reference."""

from collections.abc import Iterator

from polyreward.config.settings.checks import FILES, Known, fit_problems
from polyreward.config.settings.messages import Places, Problem, type_problems, unknown_names
from polyreward.core.errors import raise_all
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import RewardModels


def settings_problems(config: dict, known: Known) -> Iterator[Problem]:
    """Yield every wrong key and value of a configuration; where there is none, what does not fit together."""
    found = list(type_problems(Settings, config))
    yield from found or fit_problems(Settings.model_validate(config), known)


def check_settings(config: dict, known: Known, places: Places) -> Settings:
    """Return a configuration's settings; raise PolyrewardError with each problem's file and line."""
    problems = sorted(settings_problems(config, known), key=lambda problem: places.rank(problem.key))
    raise_all((problem.placed(places) for problem in problems), "configuration")
    return Settings.model_validate(config)


def parsed_settings(config: dict) -> Settings:
    """Return a configuration's settings; raise PolyrewardError with all wrong keys and types, and no more."""
    raise_all(map(str, type_problems(Settings, config)), "configuration")
    return Settings.model_validate(config)


def check_catalogs(known: Known) -> None:
    """Raise PolyrewardError that lists wrong entries of reward models, and benchmarks of unknown datasets."""
    entries, benchmarks = Places([FILES["reward_models"]]), Places([FILES["benchmarks"]])
    problems = [problem.placed(entries) for problem in type_problems(RewardModels, known.reward_models)]
    for name, one in known.benchmarks.items():
        unknown = unknown_names((name, "dataset"), [one["dataset"]], known.datasets, FILES["datasets"])
        problems += [problem.placed(benchmarks) for problem in unknown]
    raise_all(problems, "workflow/catalog")
