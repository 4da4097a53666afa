"""What every reward model does: give each answer to a prompt a score."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from polyreward.core.conversations import Messages


class Conversations(NamedTuple):
    """A prompt and the answers that continue it, two or more; each makes one conversation."""

    prompt: str | Messages
    answers: tuple[str, ...]


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
