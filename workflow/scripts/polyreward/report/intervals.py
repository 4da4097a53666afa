"""Intervals drawn small: where an estimate, its interval and the printed one lie beside the bound of a
rule."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WIDTH = 220  # of a drawing, in the units of its viewBox
EDGE = 8  # left free on both sides
RULE = re.compile(r"(above|below) (-?[\d.]+(?:e-?\d+)?)")


@dataclass(frozen=True)
class Drawing:
    """Positions along a drawing, 0 to WIDTH.

    bound: of the rule.
    holds: start and width of the side that the claim holds on.

    ours, printed: (low, estimate, high) of those that are known; low and high are the estimate's where there
    is no interval."""

    bound: float
    holds: tuple[float, float]
    ours: tuple[float, float, float] | None
    printed: tuple[float, float, float] | None


def rule_of(text: str) -> tuple[str, float]:
    """Return the side and the bound of a rule as the claims' table writes it: "above -2 (0 with a margin of
    2)"."""
    found = RULE.match(text)
    if found is None:
        raise ValueError(f"`{text}` is no rule: above or below, and a number")
    return found[1], float(found[2])


def span_of(rows: Iterable[Mapping]) -> tuple[float, float]:
    """Return the least and the greatest number of claims that share an axis: their bounds, estimates and ends
    of intervals."""
    names = [f"{side}{part}" for side in ("", "printed_") for part in ("estimate", "low", "high")]
    values = [value for row in rows for value in (rule_of(row["rule"])[1], *(row[name] for name in names))]
    known = [value for value in values if math.isfinite(value)]
    return min(known), max(known)


def drawing(row: Mapping, span: tuple[float, float]) -> Drawing:
    """Return where a claim's numbers lie; row: of the claims' table. span: the ends of the axis."""
    low, high = span
    scale = (WIDTH - 2 * EDGE) / (high - low) if high > low else 0

    def at(value: float) -> float:
        return round(EDGE + (value - low) * scale, 1)

    def three(side: str) -> tuple[float, float, float] | None:
        estimate, *ends = (row[f"{side}{part}"] for part in ("estimate", "low", "high"))
        if not math.isfinite(estimate):
            return None
        first, last = ends if all(map(math.isfinite, ends)) else (estimate, estimate)
        return at(first), at(estimate), at(last)

    side, bound = rule_of(row["rule"])
    x = at(bound)
    holds = (x, round(WIDTH - x, 1)) if side == "above" else (0.0, x)
    return Drawing(x, holds, three(""), three("printed_"))
