"""claims.csv: what the transfer paper claims, what we find, and what its printed numbers say by the same rule."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from polyreward.evidence import Evidence
from polyreward.printed import Printed, printed_estimate
from polyreward.quantities import QUANTITIES, Estimate, NotHereError
from polyreward.renderings import write_html, write_latex, write_markdown
from polyreward.tables import write_table
from polyreward.verdicts import UNDECIDED, Contrasts, Rule, extreme, verdict

COLUMNS = [
    "claim", "number", "paper", "says", "quantity", "estimate", "low", "high", "unit", "n", "n_of", "test", "rule", "verdict",
    "printed_estimate", "printed_low", "printed_high", "printed_n", "printed_p", "printed_p_rank", "printed_test",
    "printed_verdict", "note",
]  # fmt: skip
DIGITS = {"points": "+.1f", "share": "+.3f", "KS": ".3f"}


def claims_table(claims: Mapping[str, dict], evidence: Evidence, printed: Printed, confidence: float) -> pd.DataFrame:
    """Return a row for each claim, in order.

    claims: as workflow/claims.yaml has them. confidence: of all intervals, a fraction."""
    rows = [_row(name, entry, evidence, printed, confidence) for name, entry in claims.items()]
    return pd.DataFrame(rows)[COLUMNS].astype({"n": "Int64", "printed_n": "Int64"})


def _row(name: str, entry: dict, evidence: Evidence, printed: Printed, confidence: float) -> dict:
    rule, options = Rule(**entry["rule"]), dict(entry["quantity"])
    quantity = options.pop("name")
    ours, our_note = _ours(quantity, options, rule, evidence, confidence)
    theirs, their_note = _theirs(quantity, options, rule, printed, confidence)
    return {
        "claim": name, "number": entry["claim"], "paper": entry["paper"], "says": entry["says"], "quantity": entry["measures"],
        "unit": entry["unit"], "rule": str(rule), **ours, **theirs, "note": " ".join(filter(None, (our_note, their_note))),
    }  # fmt: skip


def _ours(quantity: str, options: dict, rule: Rule, evidence: Evidence, confidence: float) -> tuple[dict, str]:
    try:
        found: Estimate = QUANTITIES[quantity](evidence, **options)
    except NotHereError as reason:
        gap = dict.fromkeys(("estimate", "low", "high", "n"), np.nan)
        return {**gap, "n_of": "", "test": "", "verdict": UNDECIDED}, f"Cannot be tested here: {reason}."
    estimate, low, high = extreme(found.contrasts, rule.side, confidence)
    return {
        "estimate": estimate, "low": low, "high": high, "n": found.n, "n_of": found.n_of,
        "test": found.test + _of_several(found.contrasts, rule),
        "verdict": verdict(low, high, rule) if found.decides else UNDECIDED,
    }, found.note  # fmt: skip


def _theirs(quantity: str, options: dict, rule: Rule, printed: Printed, confidence: float) -> tuple[dict, str]:
    found = printed_estimate(quantity, options, printed, rule)
    if found is None:
        gap = dict.fromkeys(
            ("printed_estimate", "printed_low", "printed_high", "printed_n", "printed_p", "printed_p_rank"), np.nan
        )
        return {**gap, "printed_test": "", "printed_verdict": ""}, "The paper prints no numbers for it."
    estimate, low, high = extreme(found.contrasts, rule.side, confidence)
    return {
        "printed_estimate": estimate, "printed_low": low, "printed_high": high, "printed_n": found.n, "printed_p": found.p,
        "printed_p_rank": found.p_rank, "printed_test": found.test + _of_several(found.contrasts, rule),
        "printed_verdict": "" if np.isnan(low) else verdict(low, high, rule),
    }, found.note  # fmt: skip


def _of_several(contrasts: Contrasts, rule: Rule) -> str:
    count, worst = len(contrasts.points), "least" if rule.side == "above" else "greatest"
    return f"; the {worst} of {count}, by intersection-union" if count > 1 else ""


def write_claims(table: pd.DataFrame, caption: str, confidence: str, output) -> None:
    """Write the claims as output.csv, for reading as output.md and output.html, and in short as output.tex.

    confidence: as text ("95%")."""
    write_table(table, output.csv, COLUMNS)
    shown = display_claims(table, confidence)
    write_markdown(shown, caption, output.md)
    write_html(shown, caption, "claims", output.html)
    write_latex(shown.drop(columns="Says"), caption, "tab:claims", output.tex)


def display_claims(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out the claims for reading; all cells are text."""
    return pd.DataFrame({
        "Claim": table["number"].astype(str) + " " + table["claim"].str.replace("_", " "),
        "Says": table["says"],
        f"Ours [{confidence}]": [_interval(row, "") for row in table.to_dict("records")],
        "n": [f"{row.n} {row.n_of}" if pd.notna(row.n) else "" for row in table.itertuples()],
        "Holds if": table["rule"],
        "Verdict": table["verdict"].replace(UNDECIDED, "not decided"),
        f"Printed [{confidence}]": [_interval(row, "printed_") for row in table.to_dict("records")],
        "Printed verdict": table["printed_verdict"].replace(UNDECIDED, "not decided"),
    })  # fmt: skip


def _interval(row: dict, side: str) -> str:
    estimate, low, high = (row[f"{side}{part}"] for part in ("estimate", "low", "high"))
    digits = DIGITS[row["unit"]]
    ends = f" [{low:{digits}}, {high:{digits}}]" if np.isfinite(low) else ""
    return f"{estimate:{digits}}{ends}" if np.isfinite(estimate) else ""
