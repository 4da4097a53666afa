"""Think-as-Locals: its judges, their data and their training."""

import re
from collections.abc import Iterator
from pathlib import Path

from polyreward.config.settings.checks.known import FILES, Check, Known
from polyreward.config.settings.checks.reward_models import question_problems
from polyreward.config.settings.problems import Problem, unknown_names
from polyreward.settings.model import Settings

LOCALS_RESERVED = ("base", "base-with-criteria", "warmup", "warmup-at-once", "checkpoints")


def _locals_runs(settings: Settings, known: Known) -> Iterator[Problem]:
    for run in settings.think_as_locals.runs:
        if run in LOCALS_RESERVED or re.fullmatch(r"full-\d+", run):
            yield Problem(
                ("think_as_locals", "runs", run), "a judge of another kind is named so; choose another name"
            )
    if "full" not in settings.think_as_locals.runs:
        yield Problem(
            ("think_as_locals", "runs"),
            "has no `full`, the judge trained with all rewards, to which the tables compare the others;"
            " add it",
        )


def _locals_others(settings: Settings, known: Known) -> Iterator[Problem]:
    """Yield a problem for each judge from elsewhere that is unknown, is none, cannot be asked, or has a name
    that is taken."""
    judges, questions = settings.think_as_locals, {**known.judge_questions, **settings.judge_questions}
    own = {name: entry.model_dump(exclude_unset=True) for name, entry in settings.reward_models.items()}
    entries = {**known.reward_models, **own}
    for number, name in enumerate(judges.others):
        where = ("think_as_locals", "others", number)
        if name not in entries:
            yield from unknown_names(where, [name], entries, f"{FILES['reward_models']}, with reward_models,")
            continue
        if entries[name]["kind"] != "generative":
            yield Problem(
                where,
                f"`{name}` is of kind {entries[name]['kind']}; only judges (generative) stand beside ours",
            )
        if name in (*LOCALS_RESERVED, *judges.runs) or re.fullmatch(r"full-\d+", name):
            yield Problem(where, f"a judge of ours is named `{name}`, too; give this one another name")
        if name not in own and name not in settings.off_the_shelf:  # else _judges checks it
            yield from question_problems(where, name, entries[name], questions)


def _locals_beside(settings: Settings, known: Known) -> Iterator[Problem]:
    judges, key = settings.think_as_locals, ("think_as_locals", "beside")
    for name, folder in judges.beside.items():
        if name == judges.base:
            yield Problem(
                (*key, name), "is this scale's own base, which is in the table anyway; name another scale's"
            )
        if Path(folder) == Path(settings.results):
            yield Problem((*key, name), f"`{folder}` is this scale's own `results`; name another scale's")


def _data_shares(settings: Settings, known: Known) -> Iterator[Problem]:
    judge, key = settings.think_as_locals, ("think_as_locals", "data_shares")
    yield from unknown_names(
        key, list(judge.data_shares), ["own", *judge.datasets], "think_as_locals.datasets, and own"
    )
    if sum(judge.data_shares.values()) > 1 + 1e-9:
        yield Problem(key, f"sums to {sum(judge.data_shares.values()):g}, more than 1; lower some")


def _locals_topics(settings: Settings, known: Known) -> Iterator[Problem]:
    if not settings.carb.training_share:
        yield Problem(
            ("carb", "training_share"),
            "is 0, so that `think_as_locals` has no topic left to train on; raise it",
        )


def _grpo_batch(settings: Settings, known: Known) -> Iterator[Problem]:
    grpo = settings.think_as_locals.grpo
    if grpo.batch_size * grpo.gradient_accumulation % (2 * grpo.generations):
        yield Problem(
            ("think_as_locals", "grpo", "batch_size"),
            f"times gradient_accumulation is {grpo.batch_size * grpo.gradient_accumulation}, no multiple of"
            f" twice generations ({2 * grpo.generations}); half of an update's questions have the right"
            " answer first, and each has all its replies",
        )


def _grpo_checkpoints(settings: Settings, known: Known) -> Iterator[Problem]:
    if settings.think_as_locals.grpo.save_every % settings.think_as_locals.grpo.iterations:
        yield Problem(
            ("think_as_locals", "grpo", "save_every"),
            "is no multiple of iterations; a run that resumes would use other replies",
        )


CHECKS: tuple[Check, ...] = (
    _locals_runs,
    _locals_others,
    _locals_beside,
    _data_shares,
    _locals_topics,
    _grpo_batch,
    _grpo_checkpoints,
)
