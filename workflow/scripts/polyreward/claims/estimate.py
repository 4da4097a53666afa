"""A claim's quantity: its contrasts, their sample, and their value by chance."""

import dataclasses
from collections.abc import Callable
from typing import Literal

from polyreward.analysis.verdicts import FEWEST_UNITS, ONLY_THESE, Contrasts, beyond, constant, less

Over = Literal["mean", "each"]  # whether a quantity is the mean of its contrasts or each of them
LENGTH = "length"  # the baseline that counts characters
FEWEST_TRAININGS = 3  # of each model, below which an interval knows too little of how trainings vary
# {kind of null: how it is found, in words}
NULLS = {
    "symmetry": "symmetry: the compared groups could be exchanged",
    LENGTH: "length: a scorer that counts characters",
    "permutation": "permutation: permuted values",
}


class UntestableError(Exception):
    """The data cannot test a claim; the text says why."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A quantity's contrasts and their sample: n units, called n_of.

    decides: False where the quantity says nothing about the claim at any value. trainings: of each model
    trained here. fewest: units below which nothing is decided. permuted: the contrasts under permutation,
    where that is a null."""

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
        """With few trainings, a verdict is about these models instead of the training."""
        if self.trainings is None:
            return ""
        return ONLY_THESE if self.trainings < FEWEST_TRAININGS else "trainings"


def require(condition: object, reason: str) -> None:
    """Raise UntestableError with a reason unless a condition holds."""
    if not condition:
        raise UntestableError(reason)


def null_of(
    by: str, found: Estimate, quantity: Callable[..., Estimate], evidence, options: dict
) -> tuple[Contrasts, Contrasts]:
    """Return the null of a quantity by a key of NULLS, and the quantity (`found`) minus its null.

    Raises UntestableError where the quantity of `length` cannot be computed."""
    if by == "symmetry":
        return constant(0.0), found.contrasts
    if by == LENGTH:
        null = quantity(evidence.of_length(), **options).contrasts
        return null, less(found.contrasts, null)
    if found.permuted is None:
        raise ValueError(f"{quantity.__name__} has no null by {by}; correct null_model in claims.yaml")
    return found.permuted, beyond(found.contrasts.points, found.permuted)
