"""The claims on the page: verdict, sentence, drawn interval, and sample."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace as Shown

import pandas as pd

from polyreward.analysis.verdicts import (
    FAILS,
    HOLDS,
    NOT_ALL,
    SMALLER,
    SUGGESTED,
    SUGGESTED_AGAINST,
    UNDECIDED,
    UNTESTED,
    VERDICTS,
)
from polyreward.claims.table import interval_text, reach_text, read_claims, size_text
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import p_text

WIDTH = 220  # of a drawing, in the units of its viewBox
EDGE = 8  # left free on both sides
RULE = re.compile(r"(above|below) (-?[\d.]+(?:e-?\d+)?)")
# {verdict: (its symbol, the name of its colour)}
LOOKS = {
    HOLDS: ("✓", "holds"),
    FAILS: ("✗", "fails"),
    SMALLER: ("↓", "smaller"),
    NOT_ALL: ("◐", "mixed"),
    SUGGESTED: ("↗", "suggested"),
    SUGGESTED_AGAINST: ("↘", "against"),
    UNDECIDED: ("?", "undecided"),
    UNTESTED: ("–", "untested"),
}
# What is shown of a claim outright; any other column of its table is below "more".
OUTRIGHT = {
    *("claim", "paper", "number", "says", "estimate", "low", "high", "unit", "n", "n_of", "rule"),
    *("verdict", "p_holm", "printed_estimate"),
}


def verdict_of(word: str) -> Shown:
    """Return a verdict's word, symbol and key, the name of its colour; raise KeyError for an unknown one."""
    symbol, key = LOOKS[word]
    return Shown(word=word, symbol=symbol, key=key)


def shown_claims(path: Path, command: str, shorts: Mapping[str, str]) -> list[Shown]:
    """Return a table's claims in order; numbers of one unit share an axis. `more` is the rest of a row.

    shorts: {paper: how tables call it}."""
    try:
        table = read_claims(path)
    except PolyrewardError as error:
        raise PolyrewardError(f"{error}; it is from another version. Run `{command}`") from None
    rows = table.to_dict("records")
    spans = {unit: span_of(row for row in rows if row["unit"] == unit) for unit in table["unit"].unique()}
    return [_claim(row, spans[row["unit"]], shorts[row["paper"]]) for row in rows]


def _claim(row: dict, span: tuple[float, float], short: str) -> Shown:
    return Shown(
        name=row["claim"],
        paper=row["paper"],
        number=f"{short} {row['number']}",
        says=row["says"],
        verdict=verdict_of(row["verdict"]),
        speaks_of=reach_text(row),
        p_holm=p_text(row["p_holm"]),
        ours=interval_text(row, ""),
        n=size_text(row),
        rule=row["rule"],
        printed=interval_text(row, "printed_"),
        unit=row["unit"],
        drawn=drawing(row, span),
        more=[
            (name.replace("_", " "), _text(value))
            for name, value in row.items()
            if name not in OUTRIGHT and _text(value)
        ],
    )


def _text(value) -> str:
    if not isinstance(value, str) and pd.isna(value):
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def counts(claims: list[Shown]) -> list[tuple[Shown, int]]:
    """Return the number of claims per verdict that occurs, in the order of VERDICTS."""
    found = Counter(claim.verdict.key for claim in claims)
    return [(verdict, found[verdict.key]) for verdict in map(verdict_of, VERDICTS) if verdict.key in found]


def rule_of(text: str) -> tuple[str, float]:
    """Return the side and bound of a rule from the claims' table: "above -2 (0 with a margin of 2)"."""
    found = RULE.match(text)
    if found is None:
        raise ValueError(f"`{text}` is no rule: above or below, and a number")
    return found[1], float(found[2])


def span_of(rows: Iterable[Mapping]) -> tuple[float, float]:
    """Return the range of claims that share an axis: bounds, estimates and interval ends."""
    names = ("estimate", "low", "high", "printed_estimate")
    values = [value for row in rows for value in (rule_of(row["rule"])[1], *(row[name] for name in names))]
    known = [value for value in values if math.isfinite(value)]
    return min(known), max(known)


def drawing(row: Mapping, span: tuple[float, float]) -> Shown:
    """Return where the numbers of a row are drawn, 0 to WIDTH; span: the ends of the axis.

    bound: the rule's. holds: the start and width of the side on which the claim holds. ours: the low end, the
    estimate and the high end."""
    low, high = span
    scale = (WIDTH - 2 * EDGE) / (high - low) if high > low else 0

    def at(value: float) -> float:
        return round(EDGE + (value - low) * scale, 1)

    estimate, printed = row["estimate"], row["printed_estimate"]
    ends = [row[end] if math.isfinite(row[end]) else estimate for end in ("low", "high")]
    ours = (at(ends[0]), at(estimate), at(ends[1])) if math.isfinite(estimate) else None
    side, bound = rule_of(row["rule"])
    x = at(bound)
    holds = (x, round(WIDTH - x, 1)) if side == "above" else (0.0, x)
    return Shown(bound=x, holds=holds, ours=ours, printed=at(printed) if math.isfinite(printed) else None)
