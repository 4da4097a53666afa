"""What every reward model does: give each answer to a prompt a score."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from polyreward.core.conversations import Messages, rejected_of


class Conversations(NamedTuple):
    """A prompt and the answers that continue it, two or more; each makes one conversation."""

    prompt: str | Messages
    answers: tuple[str, ...]


def conversations_of(rows: Iterable[dict]) -> list[Conversations]:
    """Return preference rows as conversations: the chosen answer, then the rejected one, or several."""
    return [Conversations(row["prompt"], (row["chosen"], *rejected_of(row))) for row in rows]


@dataclasses.dataclass(frozen=True)
class Scores:
    """One array per prompt, one value per answer; higher is better. truncated: whether the answer's
    conversation was cut."""

    values: list[np.ndarray]
    truncated: list[np.ndarray]


class RewardModel(Protocol):
    """A scorer of any family. Scores are comparable between the answers to one prompt; a classifier's between
    prompts too.

    exact: whether a score depends on its conversation only, to 1e-5, as in fp32."""

    exact: bool

    def score(self, conversations: Sequence[Conversations], label: str) -> Scores:
        """Score every answer; label: what to call the job in progress messages."""
        ...


class Composite:
    """Base of dataclasses that score by the models in their fields: they are as exact as these are."""

    @property
    def exact(self) -> bool:
        """Whether all its models are."""
        return all(value.exact for value in vars(self).values() if hasattr(value, "exact"))
