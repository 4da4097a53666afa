"""Settings that hold names or files: each must be known."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from polyreward.config.settings.checks.known import FILES, Check, Known, key_of, no_file
from polyreward.config.settings.problems import Problem, unknown_items, unknown_names
from polyreward.settings.model import Settings

# {setting that holds a name or names: the catalog of FILES, or the setting, whose names they are}
NAMES = {
    "bases": "models",
    "figure2_models": "models",
    "table1_bases": "bases",
    "off_the_shelf": "reward_models",
    "off_the_shelf_rows.table2": "off_the_shelf",
    "off_the_shelf_rows.language_tables": "off_the_shelf",
    "source_language": "languages",
    "target_languages": "languages",
    "pool.datasets": "datasets",
    "benchmarks.main": "benchmarks",
    "benchmarks.twins": "benchmarks",
    "passages": "datasets",
    "translation.engine": "translation.engines",
    "translation.quality_engines": "translation.engines",
    "gate.base": "bases",
    "alignment.policy": "models",
    "alignment.reward_base": "bases",
    "alignment.languages": "target_languages",
    "alignment.prompt_data": "datasets",
    "alignment.instructions": "datasets",
    "alignment.judge": "reward_models",
    "alignment.reference": "reward_models",
    "carb.cultures": "languages",
    "carb.embedding.model": "models",
    "carb.policies": "models",
    "carb.example_culture": "carb.cultures",
    "think_as_locals.base": "models",
    "think_as_locals.datasets": "datasets",
    "think_as_locals.easy.dataset": "datasets",
    "think_as_locals.criteria_language": "languages",
    "think_as_locals.cultures": "carb.cultures",
    "think_as_locals.evaluation.cultures": "carb.cultures",
}
PATHS = ("carb.culture_file", "think_as_locals.criteria")


def _name_check(setting: str) -> Check:
    def check(settings: Settings, known: Known) -> Iterator[Problem]:
        value: Any = settings
        for key in key_of(setting):  # a section may be null
            value = None if value is None else getattr(value, key)
        source = NAMES[setting]
        if source == "bases" and not settings.bases:  # nothing is trained, so that nothing of it is asked for
            return
        names = getattr(known, source) if source in FILES else attrgetter(source)(settings)
        if isinstance(value, list):
            yield from unknown_items(key_of(setting), value, names, FILES.get(source, source))
        elif isinstance(value, dict):
            for key, name in value.items():
                yield from unknown_names((*key_of(setting), key), [name], names, FILES.get(source, source))
        elif value is not None:
            yield from unknown_names(key_of(setting), [value], names, FILES.get(source, source))

    return check


def _file_check(setting: str) -> Check:
    def check(settings: Settings, known: Known) -> Iterator[Problem]:
        yield from no_file(key_of(setting), attrgetter(setting)(settings))

    return check


CHECKS: tuple[Check, ...] = (*map(_name_check, NAMES), *map(_file_check, PATHS))
