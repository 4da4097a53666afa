"""What the types of the settings cannot say: names must be known, files must be there, and sections must fit
each other.

A file here for each section; each ends with its CHECKS."""

from collections.abc import Iterator

from polyreward.config.settings.checks import (
    alignment,
    carb,
    data,
    devices,
    names,
    reward_models,
    think_as_locals,
)
from polyreward.config.settings.checks.known import FILES, Known
from polyreward.config.settings.problems import Problem, unknown_names
from polyreward.settings.model import Settings

ROOMS = (names, data, reward_models, alignment, carb, think_as_locals, devices)


def fit_problems(settings: Settings, known: Known, whole: bool) -> Iterator[Problem]:
    """Yield every problem that the types do not find.

    whole: the types found none. Otherwise settings hold what is usable, and a check that needs more ends
    there."""
    for check in (check for room in ROOMS for check in room.CHECKS):
        try:
            yield from check(settings, known)
        except AttributeError:
            if whole:
                raise


def dataset_problems(datasets: dict, benchmarks: dict) -> Iterator[Problem]:
    """Yield problems between the catalogs: a benchmark's dataset must exist."""
    for name, benchmark in benchmarks.items():
        yield from unknown_names((name, "dataset"), [benchmark["dataset"]], datasets, FILES["datasets"])
