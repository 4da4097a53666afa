"""CARB: its items, questions and generators."""

from collections.abc import Iterator
from pathlib import Path

from polyreward.config.settings.checks.known import FILES, Check, Known, no_file
from polyreward.config.settings.checks.reward_models import source_problems
from polyreward.config.settings.problems import Problem, unknown_items, unknown_names
from polyreward.settings.model import Settings

QUESTION_FILES = (".yaml", ".jsonl")
ANSWERS = 4  # of an item that is built here, each right for another culture


def _generators(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, entry in settings.carb.generators.items():
        yield from source_problems(("carb", "generators", name), entry, settings, known)


def _carb_filters(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.carb.filters.farthest >= settings.carb.filters.nearest:
        yield Problem(("carb", "filters"), "`farthest` is not below `nearest`; no answer lies between them")


def _carb_sources(settings: Settings, known: Known) -> Iterator[Problem]:
    if not settings.carb.topics and not settings.carb.reference_files:
        yield Problem(("carb",), "has neither `topics` nor `reference_files`; name one")


def _carb_items(settings: Settings, known: Known) -> Iterator[Problem]:
    carb = settings.carb
    for number, path in enumerate(carb.item_files):
        yield from no_file(("carb", "item_files", number), path)
    if not carb.item_files and len(carb.cultures) < ANSWERS:
        text = (
            f"has {len(carb.cultures)} cultures; an item's {ANSWERS} answers are of as many: name more, or"
            " `item_files`"
        )
        yield Problem(("carb", "cultures"), text)


def _carb_knockout(settings: Settings, known: Known) -> Iterator[Problem]:
    own = {name: entry.kind for name, entry in settings.reward_models.items()}
    shelf = {name: known.reward_models.get(name, {}).get("kind") for name in settings.off_the_shelf}
    judges = [name for name, kind in {**own, **shelf}.items() if kind == "generative"]
    where = "generative ones of off_the_shelf and reward_models"
    yield from unknown_items(("carb", "knockout"), settings.carb.knockout, judges, where)


def _carb_questions(settings: Settings, known: Known) -> Iterator[Problem]:
    carb, stems = settings.carb, [Path(name).stem for name in settings.carb.questions]
    for number, name in enumerate(carb.questions):
        key, entry = ("carb", "questions", number), known.datasets.get(name)
        if stems.index(Path(name).stem) < number:
            yield Problem(
                key, f"`{name}` has the name of another set; rename the file, as tables tell sets by it"
            )
        elif entry is None and Path(name).suffix in QUESTION_FILES:
            yield from no_file(key, name)
        elif entry is None:
            yield Problem(
                key,
                f"`{name}` is no dataset of {FILES['datasets']}, nor a file that ends in"
                f" {' or '.join(QUESTION_FILES)}",
            )
        elif entry.get("holds") != "questions":
            yield Problem(
                key, f"`{name}` holds no questions; name one of {', '.join(_sets(known))}, or a file"
            )
        elif not set(entry["languages"]) & set(carb.cultures):
            yield Problem(
                key,
                f"`{name}` has questions in {', '.join(entry['languages'])}, none of carb.cultures; leave"
                " it out",
            )


def _carb_grpo(settings: Settings, known: Known) -> Iterator[Problem]:
    grpo, key = settings.carb.grpo, ("carb", "grpo")
    if grpo is None:
        return
    languages = [settings.source_language, *settings.target_languages]
    trained = [f"{base}_{language}" for base in settings.bases for language in languages]
    there = [*trained, *settings.off_the_shelf, *settings.reward_models]
    yield from unknown_names((*key, "policy"), [grpo.policy], known.models, FILES["models"])
    if settings.bases:  # else nothing is trained, and Figure 5 not asked for
        where = "bases with their languages, off_the_shelf and reward_models"
        yield from unknown_items((*key, "reward_models"), grpo.reward_models or [], there, where)
    replies = grpo.batch_size * grpo.gradient_accumulation
    if replies % grpo.generations:
        text = (
            f"times gradient_accumulation is {replies}, no multiple of generations ({grpo.generations}); an"
            " update holds all"
        )
        yield Problem((*key, "batch_size"), f"{text} replies to each of its prompts")
    if grpo.save_every % grpo.iterations:
        yield Problem(
            (*key, "save_every"), "is no multiple of iterations; a run that resumes would use other replies"
        )


def _sets(known: Known) -> list[str]:
    return [name for name, entry in known.datasets.items() if entry.get("holds") == "questions"]


CHECKS: tuple[Check, ...] = (
    _generators,
    _carb_filters,
    _carb_sources,
    _carb_items,
    _carb_knockout,
    _carb_questions,
    _carb_grpo,
)
