"""Processes and servers."""

from collections.abc import Iterator
from pathlib import Path

from polyreward.config.settings.checks.known import Check, Known, no_file
from polyreward.config.settings.problems import Problem
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.model import Settings


def _launch(settings: Settings, known: Known) -> Iterator[Problem]:
    yield from launch_problems(settings.devices.launch)


def launch_problems(path: str | None) -> Iterator[Problem]:
    """Yield what is wrong with a configuration of accelerate; None is no configuration."""
    key, launch = ("devices", "launch"), None
    if path is None:
        return
    if not Path(path).is_file():
        yield from no_file(key, path)
        return
    try:
        launch = read_yaml(path)
    except PolyrewardError as error:
        yield Problem(key, str(error))
        return
    processes = launch.get("num_processes") if isinstance(launch, dict) else None
    if not (isinstance(processes, int) and processes > 1) or "distributed_type" not in launch:
        yield Problem(
            key,
            f"{path} is no configuration of accelerate for several processes (distributed_type, and"
            " num_processes of 2 or more); `accelerate config --config_file FILE` writes one",
        )
    elif launch.get("num_machines", 1) != 1:
        yield Problem(
            key, f"{path} has num_machines: {launch['num_machines']}; a job runs on one machine: set it to 1"
        )


def _serve(settings: Settings, known: Known) -> Iterator[Problem]:
    serve = settings.devices.serve
    words = " ".join(serve.command) if serve else "{model} {port}"
    for name, what in (("{model}", "which folder to serve"), ("{port}", "where to listen")):
        if name not in words:
            yield Problem(
                ("devices", "serve", "command"), f"has no {name}, from which the server learns {what}; add it"
            )


CHECKS: tuple[Check, ...] = (
    _launch,
    _serve,
)
