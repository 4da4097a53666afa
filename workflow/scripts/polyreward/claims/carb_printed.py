"""The CARB paper's quantities from its printed numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import indices_by_wording, sensitivity_index
from polyreward.claims.printed import Printed

BENCHMARKS = {"carb": "CARB", "rewardbench": "M-RewardBench"}
MEASURES = {"carb": "carb", "rewardbench": "m_rewardbench", "mean": "avg"}
TRAINED = "Think-as-Locals-"


def _lead_of_generative(printed: Printed, of: str) -> list[float]:
    scores = {kind: rows["carb_avg"] for kind, rows in printed.table("leaderboard").groupby("kind")}
    best_or_mean = pd.Series.max if of == "best" else pd.Series.mean
    return [best_or_mean(scores["generative"]) - best_or_mean(scores["classifier"])]


def _correlation(printed: Printed, benchmark: str, rating: str, either_sign: bool) -> list[float]:
    rows = printed.table("correlation")[printed.table("correlation")["benchmark"] == BENCHMARKS[benchmark]]
    r = np.sqrt(rows["r_squared"].to_numpy())
    return [*r, *-r] if either_sign else list(r)


def _lead_in_correlation(printed: Printed, rating: str) -> list[float]:
    r = np.sqrt(
        printed.table("correlation").pivot(index="downstream", columns="benchmark", values="r_squared")
    )
    return list(np.arctanh(r["CARB"]) - np.arctanh(r["M-RewardBench"]))


def _sensitivity(printed: Printed, over: str) -> list[float]:
    base = printed.table("perturbation").set_index("model").loc["base"]  # before Think-as-Locals
    sizes = np.array([base[f"{name.lower()}_percent"] for name in PERTURBATIONS])
    return [sensitivity_index(sizes)] if over == "mean" else list(indices_by_wording(sizes))


def _lead_of_locals(printed: Printed, over: Sequence[str], measure: str) -> list[float] | None:
    if list(over) != ["base-with-criteria"]:
        return None
    scores = printed.table("think_as_locals").set_index("model")[MEASURES[measure]]
    bases = [name.removeprefix(TRAINED) for name in scores.index if name.startswith(TRAINED)]
    return [float(np.mean([scores[TRAINED + base] - scores[base] for base in bases]))]


PRINTED = {
    "lead_of_generative": _lead_of_generative,
    "correlation_with_alignment": _correlation,
    "lead_in_correlation": _lead_in_correlation,
    "sensitivity": _sensitivity,
    "lead_of_locals": _lead_of_locals,
}
