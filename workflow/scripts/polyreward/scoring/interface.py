"""What every reward model does: give each answer to a prompt a score."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, Self

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

    def unbatched(self) -> "RewardModel":
        """Return the same reward model that runs each text by itself, to see how much batching moves its
        scores."""
        ...


class Composite:
    """Base of dataclasses that score by the models in their fields: they are as exact as these are."""

    @property
    def exact(self) -> bool:
        """Whether all its models are."""
        return all(model.exact for model in self._models().values())

    def unbatched(self) -> Self:
        """Return the same with models that run each text by itself."""
        return dataclasses.replace(self, **{name: one.unbatched() for name, one in self._models().items()})

    def _models(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        found = {name: value for name, value in values.items() if hasattr(value, "exact")}
        if not found:
            raise TypeError(f"{type(self).__name__} has no model in its fields")
        return found
