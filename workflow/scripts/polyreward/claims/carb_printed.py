"""The CARB paper's quantities from its printed numbers, as far as public notes report them."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import indices_by_wording, sensitivity_index

BENCHMARKS = {"carb": "CARB", "rewardbench": "M-RewardBench"}
MEASURES = {"carb": "carb", "rewardbench": "m_rewardbench", "mean": "avg"}
TRAINED = "Think-as-Locals-"


@dataclasses.dataclass(frozen=True)
class CarbPrinted:
    """The printed tables in resources/published/carb_*.csv."""

    leaderboard: pd.DataFrame
    correlation: pd.DataFrame
    perturbation: pd.DataFrame
    think_as_locals: pd.DataFrame


def printed_values(name: str, options: dict, printed: CarbPrinted) -> tuple[list[float], str] | None:
    """Return a quantity's contrasts from the printed tables, with a note; None without a printed number."""
    quantities = {
        "lead_of_generative": _lead_of_generative,
        "correlation_with_alignment": _correlation,
        "lead_in_correlation": _lead_in_correlation,
        "sensitivity": _sensitivity,
        "lead_of_locals": _lead_of_locals,
    }
    found = quantities[name](printed, **options) if name in quantities else None
    return None if found is None else (list(map(float, found)), "Printed: from public notes on the paper.")


def _lead_of_generative(printed: CarbPrinted, of: str) -> list[float]:
    scores = {kind: rows["carb_avg"] for kind, rows in printed.leaderboard.groupby("kind")}
    best_or_mean = pd.Series.max if of == "best" else pd.Series.mean
    return [best_or_mean(scores["generative"]) - best_or_mean(scores["classifier"])]


def _correlation(printed: CarbPrinted, benchmark: str, rating: str, either_sign: bool) -> list[float]:
    rows = printed.correlation[printed.correlation["benchmark"] == BENCHMARKS[benchmark]]
    r = np.sqrt(rows["r_squared"].to_numpy())
    return [*r, *-r] if either_sign else list(r)


def _lead_in_correlation(printed: CarbPrinted, rating: str) -> list[float]:
    r = np.sqrt(printed.correlation.pivot(index="downstream", columns="benchmark", values="r_squared"))
    return list(np.arctanh(r["CARB"]) - np.arctanh(r["M-RewardBench"]))


def _sensitivity(printed: CarbPrinted, over: str) -> list[float]:
    base = printed.perturbation.set_index("model").loc["base"]  # before Think-as-Locals
    sizes = np.array([base[f"{name.lower()}_percent"] for name in PERTURBATIONS])
    return [sensitivity_index(sizes)] if over == "mean" else list(indices_by_wording(sizes))


def _lead_of_locals(printed: CarbPrinted, over: Sequence[str], measure: str) -> list[float] | None:
    if list(over) != ["base-with-criteria"]:
        return None
    scores = printed.think_as_locals.set_index("model")[MEASURES[measure]]
    bases = [name.removeprefix(TRAINED) for name in scores.index if name.startswith(TRAINED)]
    return [float(np.mean([scores[TRAINED + base] - scores[base] for base in bases]))]
