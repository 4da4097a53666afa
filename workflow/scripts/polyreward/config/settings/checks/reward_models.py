"""Reward models, judges and their questions, and where each comes from."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyreward.config.settings.checks.known import FILES, Check, Known
from polyreward.config.settings.places import Key
from polyreward.config.settings.problems import Problem, unknown_names
from polyreward.core.naming import BASE_BASELINES, COMMIT, TEXT_BASELINES
from polyreward.settings.model import Settings
from polyreward.settings.reward_models import Source

KNOCKOUT = "-knockout"
SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4})$")  # how names of models end that are dated


def _reward_model_names(settings: Settings, known: Known) -> Iterator[Problem]:
    for name in settings.reward_models:
        if name in settings.off_the_shelf:
            yield Problem(
                ("reward_models", name), "off_the_shelf has a reward model of that name; choose another"
            )
        if name in TEXT_BASELINES or name.split("-")[0] in BASE_BASELINES:
            yield Problem(("reward_models", name), "a baseline is named so; choose another name")
        if name.endswith(KNOCKOUT):
            yield Problem(("reward_models", name), "a judge in a knock-out is named so; choose another name")


def _reward_models(settings: Settings, known: Known) -> Iterator[Problem]:
    for name, entry in settings.reward_models.items():
        yield from source_problems(("reward_models", name), entry, settings, known)


def _judges(settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield a problem for each question that is unknown or whose reply its judge cannot read, and server's
    name that moves."""
    names = [*settings.off_the_shelf, settings.alignment.judge, settings.alignment.reference]
    entries = {
        ("reward_models", name): entry.model_dump(exclude_unset=True)
        for name, entry in settings.reward_models.items()
    }
    listed = [(where, where[-1], entry) for where, entry in entries.items()]
    listed += [
        (("off_the_shelf",), name, known.reward_models[name])
        for name in dict.fromkeys(names)
        if name in known.reward_models
    ]
    questions = {**known.judge_questions, **settings.judge_questions}
    for where, name, entry in listed:
        yield from question_problems(where, name, entry, questions)
        model = entry.get("server", {}).get("model", "")
        if settings.pinned_judges and "server" in entry and not SNAPSHOT.search(model):
            yield Problem(
                where,
                f"`{name}` asks a server for `{model}`, a name that moves; give its `model` the date of a"
                f" snapshot, as in {model}-2024-08-06, or set pinned_judges: false",
            )
    for name, path in settings.judge_questions.items():
        if not Path(path).is_file():
            yield Problem(("judge_questions", name), f"{path}: no such file; correct it")


def question_problems(where: tuple, name: str, entry: dict, questions: dict) -> Iterator[Problem]:
    """Yield a problem where a judge's question is not among `questions`, or its verdict cannot be read."""
    if "question" in entry:
        yield from unknown_names(where, [entry["question"]], questions, FILES["judge_questions"])
        yield from _verdict_of_question(where, name, entry, questions.get(entry["question"]))


def _verdict_of_question(
    where: tuple, name: str, entry: dict, question: dict | str | None
) -> Iterator[Problem]:
    """Yield a problem where a judge's verdict cannot be read from a reply to its question; a file (str) is
    read by the job."""
    verdict = entry.get("verdict", "labels")
    if verdict not in ("text", "labels"):
        yield Problem(
            where, f"`{name}` has a `question`, which has no place for {verdict}; set verdict: text or labels"
        )
    elif (
        verdict == "labels"
        and isinstance(question, dict)
        and any(re.findall(question["pattern"], one) != [one] for one in question["verdicts"])
    ):
        yield Problem(
            where,
            f"`{name}` goes by labels, and a reply to its question `{entry['question']}` is more than a"
            " label; set verdict: text",
        )


def source_problems(key: Key, entry: Any, settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield what is wrong with where an entry, or its reference, comes from."""
    if not isinstance(entry, Source):
        return
    if entry.model is not None:
        yield from unknown_names((*key, "model"), [entry.model], known.models, FILES["models"])
    if entry.think_as_locals is not None:
        yield from unknown_names(
            (*key, "think_as_locals"),
            [entry.think_as_locals],
            ["warmup", *settings.think_as_locals.runs],
            "think_as_locals.runs",
        )
    if (
        entry.hub is not None
        and getattr(entry, "remote_code", False)
        and not COMMIT.fullmatch(entry.revision or "")
    ):
        text = (
            "remote_code runs what its authors wrote; pin it by `revision`, a commit of the hub (40"
            " hexadecimal digits)"
        )
        yield Problem(key, text)
    if entry.path is not None and not (Path(entry.path) / "config.json").is_file():
        text = f"`{entry.path}` is no model folder (no config.json in it); correct the path"
        yield Problem((*key, "path"), text)
    yield from source_problems((*key, "reference"), getattr(entry, "reference", None), settings, known)


def _frozen_layers(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.reward_model.cache_frozen_layers and not settings.reward_model.lora:
        yield Problem(
            ("reward_model", "cache_frozen_layers"), "without lora no layer is frozen; set it to false"
        )


def _token_budget(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.reward_model.token_budget and settings.reward_model.gradient_checkpointing:
        yield Problem(
            ("reward_model", "token_budget"),
            "gradient_checkpointing runs a batch again, not in parts; set this to null or"
            " gradient_checkpointing to false",
        )


CHECKS: tuple[Check, ...] = (
    _reward_model_names,
    _reward_models,
    _judges,
    _frozen_layers,
    _token_budget,
)
