"""What a claim's quantity comes to: its contrasts, and what they rest on."""

import dataclasses

from polyreward.analysis.verdicts import FEWEST_UNITS, Contrasts

LENGTH = "length"  # the baseline that counts characters
FEWEST_TRAININGS = 3  # of each model, below which an interval knows too little of how trainings vary


class NotHereError(Exception):
    """The data at hand cannot speak to a claim; the text says why."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A quantity's contrasts, how many what they rest on, by what test.

    note: what a reader must know beside.
    decides: False where the quantity says nothing of the claim, whatever its value.
    trainings: of each model that was trained here; None where none was.
    fewest: units below which nothing is decided.
    permuted: the same contrasts where values are dealt out anew, of quantities that have such a null."""

    contrasts: Contrasts
    n: int
    n_of: str
    test: str
    note: str = ""
    decides: bool = True
    trainings: int | None = None
    fewest: int = FEWEST_UNITS
    permuted: Contrasts | None = None

    @property
    def speaks_of(self) -> str:
        """What a verdict speaks of: with few trainings the models at hand, not what training in a language
        does."""
        if self.trainings is None:
            return ""
        return "these models only" if self.trainings < FEWEST_TRAININGS else "trainings"


def need(condition: object, reason: str) -> None:
    """Raise NotHereError for a reason unless a condition is met."""
    if not condition:
        raise NotHereError(reason)
