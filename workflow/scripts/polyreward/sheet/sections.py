"""Sections of settings that must fit each other, whatever the catalogs hold."""

from collections.abc import Iterator

from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.messages import Problem
from polyreward.settings.model import Settings

ANSWERS = 4  # of an item of CARB that is built here, each right for another culture


def section_problems(settings: Settings) -> Iterator[Problem]:
    """Yield settings that contradict each other, leave no interval, or name a wrong file of accelerate."""
    yield from _contradictions(settings)
    yield from _intervals(settings)
    yield from launch_problems(settings.devices.launch)


def _contradictions(settings: Settings) -> Iterator[Problem]:
    model, carb, serve = settings.reward_model, settings.carb, settings.devices.serve
    words = " ".join(serve.command) if serve else "{model} {port}"
    wrong = {
        "reward_model.cache_frozen_layers": (
            model.cache_frozen_layers and not model.lora,
            "without lora no layer is frozen; set it to false",
        ),
        "reward_model.token_budget": (
            model.token_budget and model.gradient_checkpointing,
            "gradient_checkpointing runs a batch again, not in parts; set this to null, or that to false",
        ),
        "alignment.trainings": (
            settings.alignment.runs % settings.alignment.trainings,
            f"does not divide runs ({settings.alignment.runs}), in which trainings take turns",
        ),
        "devices.serve.command": (
            not ("{model}" in words and "{port}" in words),
            "needs {model}, the folder to serve, and {port}, where to listen",
        ),
        "carb.cultures": (
            not carb.item_files and len(carb.cultures) < ANSWERS,
            f"an item's {ANSWERS} answers are of as many cultures: name more, or `item_files`",
        ),
    }
    yield from (Problem(tuple(key.split(".")), text) for key, (is_wrong, text) in wrong.items() if is_wrong)
    # Half of an update's questions of Think-as-Locals have the right answer first.
    for name, grpo, orders in (("carb", carb.grpo, 1), ("think_as_locals", settings.think_as_locals.grpo, 2)):
        if grpo is None:
            continue
        replies, whole = grpo.batch_size * grpo.gradient_accumulation, orders * grpo.generations
        if replies % whole:
            text = f"times gradient_accumulation is {replies}; make it a multiple of {whole}"
            yield Problem((name, "grpo", "batch_size"), f"{text}, the replies to {orders} prompts")
        if grpo.save_every % grpo.iterations:
            text = "is no multiple of iterations; a run that resumes would use other replies"
            yield Problem((name, "grpo", "save_every"), text)


def _intervals(settings: Settings) -> Iterator[Problem]:
    """Yield settings that leave less than two units to draw: no interval comes of them."""
    carb, judged = settings.carb, settings.think_as_locals.evaluation
    # (setting, its value, how many times that there is, what of)
    drawn = [
        (("templates_per_section", "main"), settings.templates_per_section.main, 1, "template in a section"),
        (("carb", "items_per_cell"), carb.items_per_cell, len(carb.cultures), "item in a domain"),
        (
            ("think_as_locals", "evaluation", "items_per_cell"),
            judged.items_per_cell,
            len(judged.cultures),
            "item in a domain",
        ),
    ]
    for key, value, times, what in drawn:
        if value is not None and value * times < 2:
            yield Problem(key, f"{value} leaves one {what}, which gives no interval; set 2 or more")


def launch_problems(path: str | None) -> Iterator[Problem]:
    """Yield what is wrong with a configuration of accelerate; None is no configuration."""
    if path is None:
        return
    key = ("devices", "launch")
    try:
        launch = read_yaml(path)
    except PolyrewardError as error:
        yield Problem(key, str(error))
        return
    processes = launch.get("num_processes") if isinstance(launch, dict) else None
    if not (isinstance(processes, int) and processes > 1) or "distributed_type" not in launch:
        text = f"{path} is no configuration of accelerate for several processes (distributed_type, and"
        yield Problem(key, f"{text} num_processes of 2 or more); `accelerate config` writes one")
    elif launch.get("num_machines", 1) != 1:
        yield Problem(key, f"{path}: a job runs on one machine: set num_machines to 1")
