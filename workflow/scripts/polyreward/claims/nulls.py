"""What a claim's quantity comes to for what cannot know what the claim is about, and whether ours is beyond
that."""

import dataclasses
from collections.abc import Callable

from polyreward.analysis.verdicts import Contrasts, beyond, constant, less
from polyreward.claims.carb_evidence import CarbEvidence
from polyreward.claims.estimate import Estimate
from polyreward.claims.transfer_evidence import Evidence

SYMMETRY, LENGTH, PERMUTATION = "symmetry", "length", "permutation"
HOW = {
    SYMMETRY: "symmetry: what is compared could change places",
    LENGTH: "length: a scorer that counts characters",
    PERMUTATION: "permutation: values dealt out anew",
}


@dataclasses.dataclass(frozen=True)
class Null:
    """A null of a quantity.

    contrasts: its own.
    difference: the quantity's less these.
    of: how it is found, in words."""

    contrasts: Contrasts
    difference: Contrasts
    of: str


def null_of(
    by: str,
    found: Estimate,
    quantity: Callable[..., Estimate],
    evidence: Evidence | CarbEvidence,
    options: dict,
) -> Null:
    """Return the null of a quantity.

    by: of HOW.
    found: what the quantity is of the evidence, with these options.

    Raises NotHereError where the quantity of `length` cannot be computed, ValueError where `by` does not suit
    the quantity."""
    if by == SYMMETRY:
        return Null(constant(0.0), found.contrasts, HOW[by])
    if by == LENGTH:
        null = quantity(evidence.of_length(), **options).contrasts
        return Null(null, less(found.contrasts, null), HOW[by])
    if found.permuted is None:
        raise ValueError(f"{quantity.__name__} has no null by {by}; see null_model in workflow/claims.yaml")
    return Null(found.permuted, beyond(found.contrasts.points, found.permuted), HOW[by])
