"""The CARB paper's quantities from its printed numbers, as far as public notes report them."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from polyreward.analysis.verdicts import Rule, from_correlations, from_units
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import sensitivity_index
from polyreward.claims.transfer_printed import PrintedEstimate, between_cells, from_cells

BENCHMARKS = {"carb": "CARB", "rewardbench": "M-RewardBench"}
MEASURES = {"carb": "carb", "rewardbench": "m_rewardbench", "mean": "avg"}
TRAINED = "Think-as-Locals-"
FROM_NOTES = "Printed: from public notes on the paper."
MOST_PAIRS = 1000  # reward models, more than any paper has


@dataclasses.dataclass(frozen=True)
class CarbPrinted:
    """The printed tables in resources/published/carb_*.csv."""

    leaderboard: pd.DataFrame
    correlation: pd.DataFrame
    perturbation: pd.DataFrame
    think_as_locals: pd.DataFrame


def printed_estimate(name: str, options: dict, printed: CarbPrinted, rule: Rule) -> PrintedEstimate | None:
    """Return a quantity of workflow/claims.yaml from the printed tables; None without a printed number."""
    quantities = {
        "lead_of_generative": _lead_of_generative,
        "correlation_with_alignment": _correlation,
        "lead_in_correlation": _lead_in_correlation,
        "sensitivity": _sensitivity,
        "lead_of_locals": _lead_of_locals,
    }
    return quantities[name](printed, rule.bound, **options) if name in quantities else None


def pairs_behind(r_squared: float, p: float) -> int:
    """Return the number of pairs with which a correlation's t test gives the printed p."""
    n = np.arange(4, MOST_PAIRS)
    with_n = student.logsf(np.sqrt(r_squared / (1 - r_squared) * (n - 2)), n - 2) + np.log(2)
    return int(n[np.abs(with_n - np.log(p)).argmin()])


def _lead_of_generative(printed: CarbPrinted, bound: float, of: str) -> PrintedEstimate:
    scores = {kind: rows["carb_avg"].to_numpy() for kind, rows in printed.leaderboard.groupby("kind")}
    if of == "best":
        return _points([scores["generative"].max() - scores["classifier"].max()], 2, "")
    found = between_cells(scores["generative"], scores["classifier"], bound)
    return dataclasses.replace(
        found, note=f"{FROM_NOTES} Of its leaderboard, these {found.n} rows alone are known."
    )


def _correlation(printed: CarbPrinted, bound: float, benchmark: str, either_sign: bool) -> PrintedEstimate:
    rows = printed.correlation[printed.correlation["benchmark"] == BENCHMARKS[benchmark]]
    r, n = np.sqrt(rows["r_squared"].to_numpy()), _pairs(rows)
    z = (np.arctanh(r) - np.arctanh(bound)) * np.sqrt(n - 3)
    return PrintedEstimate(
        from_correlations([*r, *-r] if either_sign else r, n),
        n,
        2 * norm.sf(np.abs(z).min()),
        np.nan,
        "Fisher's z of a correlation",
        f"{FROM_NOTES} n is what r2 and p make it; ratings on {' and '.join(rows['downstream'])}.",
    )


def _lead_in_correlation(printed: CarbPrinted, bound: float) -> PrintedEstimate:
    r = np.sqrt(printed.correlation.pivot(index="downstream", columns="benchmark", values="r_squared"))
    leads = np.arctanh(r["CARB"]) - np.arctanh(r["M-RewardBench"])
    note = "Without an interval, as how the two benchmarks correlate is not known; both taken for positive."
    return _points(leads, _pairs(printed.correlation), note)


def _sensitivity(printed: CarbPrinted, bound: float) -> PrintedEstimate:
    base = printed.perturbation.set_index("model").loc["base"]
    sizes = [base[f"{name.lower()}_percent"] for name in PERTURBATIONS]
    return _points(sensitivity_index(np.array([sizes])), 1, "Of one reward model, before Think-as-Locals.")


def _lead_of_locals(
    printed: CarbPrinted, bound: float, over: Sequence[str], measure: str
) -> PrintedEstimate | None:
    if list(over) != ["base"]:
        return None
    scores = printed.think_as_locals.set_index("model")[MEASURES[measure]]
    bases = [name.removeprefix(TRAINED) for name in scores.index if name.startswith(TRAINED)]
    lifts = np.array([scores[TRAINED + base] - scores[base] for base in bases])
    return dataclasses.replace(from_cells([lifts], bound), note=f"{FROM_NOTES} Cells: {', '.join(bases)}.")


def _pairs(rows: pd.DataFrame) -> int:
    """Return the number of reward models behind some rows of correlations; the least that rounding allows."""
    return min(pairs_behind(*row) for row in rows[["r_squared", "p_value"]].itertuples(index=False))


def _points(points: Sequence[float], n: int, note: str) -> PrintedEstimate:
    """Return contrasts without intervals."""
    contrasts = from_units([[point] for point in points])
    return PrintedEstimate(contrasts, n, np.nan, np.nan, "", " ".join(filter(None, (FROM_NOTES, note))))
