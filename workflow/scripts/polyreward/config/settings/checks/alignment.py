"""Who writes and who judges in alignment."""

from collections.abc import Iterator

from polyreward.config.settings.checks.known import FILES, Check, Known
from polyreward.config.settings.problems import Problem
from polyreward.settings.model import Settings


def _alignment_roles(settings: Settings, known: Known) -> Iterator[Problem]:
    for role, what in (("judge", "no judge"), ("reference", "no model that writes")):
        name = getattr(settings.alignment, role)
        if known.reward_models.get(name, {"kind": "generative"})["kind"] != "generative":
            text = f"`{name}` is {what}; name one of kind generative in {FILES['reward_models']}"
            yield Problem(("alignment", role), text)


def _alignment_reference(settings: Settings, known: Known) -> Iterator[Problem]:
    alignment = settings.alignment
    columns = known.datasets.get(alignment.instructions, {}).get("columns", {"reference": True})
    if "reference" not in columns and not alignment.reference:
        text = f"`{alignment.instructions}` brings no reference answers; name who writes them"
        yield Problem(("alignment", "reference"), text)


CHECKS: tuple[Check, ...] = (
    _alignment_roles,
    _alignment_reference,
)
