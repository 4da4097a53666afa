"""All quantities that a claim can name, by their unit."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from pydantic import ConfigDict, create_model

from polyreward.claims import carb_quantities as carb
from polyreward.claims import printed_quantities as of_printed
from polyreward.claims import transfer_quantities as transfer
from polyreward.claims.carb_printed import PRINTED as CARB_PRINTED
from polyreward.claims.estimate import Estimate, require
from polyreward.claims.printed import Printed
from polyreward.claims.transfer_printed import PRINTED as TRANSFER_PRINTED
from polyreward.core.errors import unknown_name
from polyreward.settings.messages import Problem, type_problems

PRINTED = TRANSFER_PRINTED | CARB_PRINTED


@dataclass(frozen=True)
class Quantity:
    """A quantity: how it is computed, in which unit, and how from printed tables; None where it is not.

    compute: a function of what it is computed from (Evidence, CarbEvidence or Printed) and of options."""

    compute: Callable[..., Estimate]
    unit: str

    @property
    def name(self) -> str:
        """Its name in claims.yaml."""
        return self.compute.__name__

    @property
    def from_printed(self) -> bool:
        """Whether printed tables are enough."""
        return self._takes is Printed

    @property
    def _takes(self) -> type:
        return next(iter(signature(self.compute).parameters.values())).annotation

    @property
    def options(self) -> dict[str, Parameter]:
        """Its options by name."""
        return dict(list(signature(self.compute).parameters.items())[1:])

    def source(self, evidence: Any, printed: Printed) -> Any:
        """Return what the quantity is computed from; raise UntestableError where that is not there."""
        if self.from_printed:
            return printed
        require(isinstance(evidence, self._takes), "it takes the scores of a run")
        return evidence

    def printed_values(self, options: dict, printed: Printed) -> list[float] | None:
        """Return its contrasts from the printed tables; None where these have nothing for it."""
        if self.from_printed:
            values = self.compute(printed, **options).contrasts.points
        else:
            values = PRINTED[self.name](printed, **options) if self.name in PRINTED else None
        return None if values is None else list(map(float, values))

    def option_problems(self, options: dict) -> Iterator[Problem]:
        """Yield each unknown or missing option, and each value of a wrong type."""
        fields = {
            name: (one.annotation, ... if one.default is Parameter.empty else one.default)
            for name, one in self.options.items()
        }
        model = create_model(
            self.name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields
        )
        yield from type_problems(model, options)


BY_UNIT: dict[str, tuple[Callable[..., Estimate], ...]] = {
    "points": (
        *(of_printed.printed_mean, of_printed.printed_lead),
        *(transfer.english_lead, transfer.lead_over_other_sources, transfer.lead_of_section),
        *(transfer.lead_of_scripts, transfer.gap_between_bases, transfer.loss_between_kinds),
        *(transfer.english_against_scorer, transfer.lead_of_scorer, transfer.least_loss),
        *(transfer.above_chance, transfer.win_rate_lead),
        *(carb.lead_of_generative, carb.lead_of_domain, carb.lead_of_locals, carb.knowledge_of_places),
        *(carb.reading, carb.places_kept, carb.places_by_language, carb.facts_found),
        carb.facts_found_by_language,
    ),
    "share": (transfer.closeness_to_base, transfer.most_collapsed, transfer.collapse_between_bases),
    "KS": (transfer.norm_distance,),
    "correlation": (
        of_printed.printed_correlation,
        transfer.correlation_with_preservation,
        carb.correlation_with_alignment,
        carb.correlation_with_sensitivity,
    ),
    "Fisher z": (carb.lead_in_correlation,),
    "index": (carb.sensitivity,),
}
QUANTITIES = {
    compute.__name__: Quantity(compute, unit) for unit, computes in BY_UNIT.items() for compute in computes
}


def quantity_problems(claims: Mapping[str, dict]) -> Iterator[Problem]:
    """Yield what is wrong with the quantities of claims: names, options, units and nulls."""
    for name, entry in claims.items():
        options, key = dict(entry["quantity"]), (name, "quantity")
        named = options.pop("name")
        if named not in QUANTITIES:
            yield Problem((*key, "name"), unknown_name(named, QUANTITIES, "`polyreward claims quantities`"))
            continue
        quantity = QUANTITIES[named]
        for problem in quantity.option_problems(options):
            yield Problem((*key, *problem.key), problem.text)
        if entry["unit"] != quantity.unit:
            yield Problem((name, "unit"), f"{named} is in `{quantity.unit}`, not `{entry['unit']}`")
        if quantity.from_printed and entry["null_model"]["by"] != "symmetry":
            yield Problem((name, "null_model", "by"), f"{named} has no null but `symmetry`")
