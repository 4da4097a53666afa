"""claims.csv: the papers' claims, our results with their verdicts, and the printed numbers."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from polyreward.analysis.verdicts import (
    FAILS,
    HOLDS,
    ONLY_THESE,
    SUGGESTED,
    SUGGESTED_AGAINST,
    UNDECIDED,
    UNTESTED,
    Contrasts,
    Rule,
    errors_at_bound,
    extreme,
    holds_beyond,
    leaning,
    p_beyond,
    p_value,
    verdict,
    without_variance,
)
from polyreward.artifacts.renderings import write_html, write_latex, write_markdown
from polyreward.claims.estimate import NULLS, UntestableError, null_of
from polyreward.claims.printed import Printed
from polyreward.claims.quantities import QUANTITIES, Quantity, quantity_problems
from polyreward.core.errors import raise_all
from polyreward.core.tables import p_text, read_table, write_table

COLUMNS = [
    *("claim", "paper", "number", "where", "says", "quantity"),
    *("estimate", "low", "high", "se", "se_trainings", "unit", "n", "n_of", "test", "rule"),
    *("null", "null_low", "null_high", "null_of"),
    *("verdict", "speaks_of", "p", "p_holm", "rule_sha256", "printed_estimate", "note"),
]
TEXTS = ["n_of", "test", "null_of", "verdict", "speaks_of", "note"]
DIGITS = {
    "points": "+.1f",
    "share": "+.3f",
    "KS": ".3f",
    "correlation": "+.2f",
    "Fisher z": "+.2f",
    "index": "+.2f",
}
NO_VARIANCE = "The standard error is zero or no number: the interval has no variance and decides nothing."
MOST_DIGITS = 6  # after the point: a CSV has no more


def claims_table(
    claims: Mapping[str, dict],
    evidence: object,
    printed: Printed,
    confidence: float,
) -> pd.DataFrame:
    """Return a row for each claim (of a paper's claims.yaml), in order.

    evidence: what a run found (Evidence or CarbEvidence); None tests only claims of printed numbers.

    se, se_trainings: standard error of the contrast, and trainings' part of it. Of several contrasts, the one
    whose end is nearest to the bound. Empty where the interval is not by resampling.

    p: the least 1 - confidence at which the verdict is decided. p_holm: corrected for all tested claims of
    the paper; by it the verdict is decided. A claim about training is at most `suggested` with fewer than
    FEWEST_TRAININGS of each model.

    null, null_low, null_high, null_of: the quantity for a scorer that cannot know. Where a claim has a
    null_model, it holds only beyond that.

    Raises:
        PolyrewardError: a quantity, option, unit or null is wrong; all of them at once.
    """
    raise_all(map(str, quantity_problems(claims)), "claims.yaml")
    rows = [_row(name, entry, evidence, printed, confidence) for name, entry in claims.items()]
    table = pd.DataFrame(rows).assign(p_holm=np.nan)
    tested = table["p"].notna()
    if tested.any():
        table.loc[tested, "p_holm"] = multipletests(table.loc[tested, "p"], method="holm")[1]
    decided = [corrected(row, confidence) for row in table.to_dict("records")]
    table[["verdict", "note"]] = pd.DataFrame(decided, index=table.index)
    return table[COLUMNS].astype({"n": "Int64"})


def corrected(row: Mapping, confidence: float) -> tuple[str, str]:
    """Return a row's verdict and note after Holm's correction, and by how many trainings it rests on."""
    verdict, note = row["verdict"], row["note"]
    if verdict in (UNDECIDED, UNTESTED):
        return verdict, note
    if row["p_holm"] > 1 - confidence:
        return UNDECIDED, f"{note} Before Holm's correction it is `{verdict}`.".strip()
    if row["speaks_of"] == ONLY_THESE:
        suggested = SUGGESTED if verdict == HOLDS else SUGGESTED_AGAINST
        more = "" if verdict in (HOLDS, FAILS) else f" With more trainings this would be `{verdict}`."
        return suggested, note + more
    return verdict, note


def rule_hash(entry: dict) -> str:
    """Return a short hash of a claim's rule, null, quantity with options, and measure."""
    text = json.dumps(
        {key: entry[key] for key in ("quantity", "measures", "rule", "null_model")}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_claims(path: str | Path) -> pd.DataFrame:
    """Read a table that claims_table returned."""
    return read_table(path, COLUMNS).astype({"n": "Int64"}).fillna(dict.fromkeys(TEXTS, ""))


def _row(name: str, entry: dict, evidence: object, printed: Printed, confidence: float) -> dict:
    rule, options = Rule(**entry["rule"]), dict(entry["quantity"])
    quantity = QUANTITIES[options.pop("name")]
    ours, our_note = _ours(quantity, options, rule, entry["null_model"], evidence, printed, confidence)
    try:
        values = quantity.printed_values(options, printed)
    except UntestableError:
        values = None
    their_note = "No printed numbers." if values is None else printed.note
    values = values or [np.nan]
    return {
        "claim": name,
        "paper": entry["paper"],
        "number": entry["claim"],
        "where": entry["where"],
        "says": entry["says"],
        "quantity": entry["measures"],
        "unit": entry["unit"],
        "rule": str(rule),
        "rule_sha256": rule_hash(entry),
        **ours,
        "printed_estimate": min(values) if rule.side == "above" else max(values),
        "note": " ".join(filter(None, (our_note, their_note))),
    }


def _ours(
    quantity: Quantity,
    options: dict,
    rule: Rule,
    null_model: dict,
    evidence: object,
    printed: Printed,
    confidence: float,
) -> tuple[dict, str]:
    try:
        source = quantity.source(evidence, printed)
        found = quantity.compute(source, **options)
        null, difference = null_of(null_model["by"], found, quantity.compute, source, options)
    except UntestableError as reason:
        texts = dict.fromkeys(("n_of", "test", "null_of", "speaks_of"), "")
        numbers = ("estimate", "low", "high", "se", "se_trainings", "n", "p", "null", "null_low", "null_high")
        row = dict.fromkeys(numbers, np.nan) | texts | {"verdict": UNTESTED}
        return row, f"Cannot be tested here: {reason}."
    estimate, low, high = extreme(found.contrasts, rule.side, confidence)
    error, error_of_trainings = errors_at_bound(found.contrasts, rule.side, confidence)
    null_estimate, null_low, null_high = extreme(null, rule.side, confidence)
    enough = found.n >= found.fewest
    beyond_null = difference if null_model["beyond"] else None
    said, p, within = _decided(found.contrasts, beyond_null, rule, confidence)
    decides = found.decides and enough
    few = "" if enough else f"Fewer than {found.fewest} {found.n_of} decide nothing."
    trainings = "" if found.trainings is None else f"Trainings of each model: {found.trainings}."
    return {
        "estimate": estimate,
        "low": low,
        "high": high,
        "se": error,
        "se_trainings": error_of_trainings,
        "n": found.n,
        "n_of": found.n_of,
        "test": found.test + _of_several(found.contrasts, rule),
        "null": null_estimate,
        "null_low": null_low,
        "null_high": null_high,
        "null_of": NULLS[null_model["by"]],
        "verdict": said if decides else UNDECIDED if found.decides else UNTESTED,
        "speaks_of": found.speaks_of,
        "p": p if decides else np.nan,
    }, " ".join(filter(None, (found.note, trainings, few, within if decides else "")))


def _decided(
    contrasts: Contrasts, difference: Contrasts | None, rule: Rule, confidence: float
) -> tuple[str, float, str]:
    """Return the verdict, its p, and a note where a contrast without variance or only the null keeps a claim
    from being decided.

    difference: the quantity minus its null, which must be on the claimed side too; None without a null."""
    said, p = verdict(contrasts, rule, confidence), p_value(contrasts, rule)
    if said == UNDECIDED and without_variance(contrasts).any():
        return said, p, NO_VARIANCE
    if difference is None or leaning(contrasts, rule) != rule.side:
        return said, p, ""
    p = float(np.maximum(p, p_beyond(difference, rule)))
    if said != HOLDS or holds_beyond(difference, rule, confidence):
        return said, p, ""
    return UNDECIDED, p, "Beyond the bound, but not beyond its null, the value for an uninformed scorer."


def _of_several(contrasts: Contrasts, rule: Rule) -> str:
    count, worst = len(contrasts.points), "least" if rule.side == "above" else "greatest"
    return f"; the {worst} of {count}, by intersection-union" if count > 1 else ""


def write_claims(
    table: pd.DataFrame, name: str, caption: str, confidence: str, shorts: Mapping[str, str], output
) -> None:
    """Write the claims as output.csv, .md and .html, in short as .tex.

    confidence: as text ("95%"). shorts: {paper: how tables call it}."""
    write_table(table, output.csv, COLUMNS)
    shown = display_claims(table, confidence, shorts)
    write_markdown(shown, caption, output.md)
    write_html(shown, caption, name, output.html)
    write_latex(shown.drop(columns="Says"), caption, f"tab:{name}", output.tex)


def display_claims(table: pd.DataFrame, confidence: str, shorts: Mapping[str, str]) -> pd.DataFrame:
    """Lay out the claims as text cells for reading; shorts: {paper: how tables call it}."""
    rows = table.to_dict("records")
    paper, number = table["paper"].map(shorts), table["number"].astype(str)
    return pd.DataFrame(
        {
            "Claim": paper + " " + number + " " + table["claim"].str.replace("_", " "),
            "Says": table["says"],
            f"Ours [{confidence}]": [interval_text(row, "") for row in rows],
            "n": [size_text(row) for row in rows],
            "Holds if": table["rule"],
            f"Null [{confidence}]": [_null(row) for row in rows],
            "Verdict": [f"{row['verdict']} {reach_text(row)}".strip() for row in rows],
            "p (Holm)": [
                f"{p_text(row['p'])} ({p_text(row['p_holm'])})" if pd.notna(row["p"]) else "" for row in rows
            ],
            "Printed": [interval_text(row, "printed_") for row in rows],
        }
    )


def _null(row: dict) -> str:
    shown = interval_text({**row, "null_estimate": row["null"]}, "null_")
    return f"{shown} {row['null_of'].partition(':')[0]}" if shown else ""


def size_text(row: Mapping) -> str:
    """Return the size of a claim's sample in words; "" where it was not tested."""
    return f"{row['n']} {row['n_of']}" if pd.notna(row["n"]) else ""


def reach_text(row: Mapping) -> str:
    """Return what a verdict is limited to, if it is."""
    return f"({ONLY_THESE})" if row["verdict"] in (SUGGESTED, SUGGESTED_AGAINST) else ""


def format_of(unit: str, values: Sequence[float]) -> str:
    """Return the format of an estimate and its ends: their unit's, or more digits where they are needed.

    At least one digit of the largest finite value and of the interval's width is shown; two of the width of a
    share or KS statistic."""
    finite = [value for value in values if np.isfinite(value)] or [0.0]
    sign, of_unit = DIGITS[unit].removesuffix("f").split(".")
    needed = _first_digit(max(map(abs, finite)))
    of_width = _first_digit(max(finite) - min(finite)) + int(of_unit) - 2
    return f"{sign}.{min(max(int(of_unit), needed, of_width), MOST_DIGITS)}f"


def _first_digit(size: float) -> int:
    """Return the place after the point of a number's first digit; 0 where it is rounding."""
    return -math.floor(math.log10(size)) if size >= 10**-MOST_DIGITS else 0


def interval_text(row: Mapping, side: str) -> str:
    """Return a row's estimate with its interval; side: "" for ours, "printed_" or "null_"."""
    estimate, low, high = (row.get(f"{side}{part}", np.nan) for part in ("estimate", "low", "high"))
    digits = format_of(row["unit"], (estimate, low, high))
    ends = f" [{low:{digits}}, {high:{digits}}]" if np.isfinite(low) else ""
    return f"{estimate:{digits}}{ends}" if np.isfinite(estimate) else ""
