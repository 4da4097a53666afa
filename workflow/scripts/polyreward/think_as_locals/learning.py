"""What judges learn: R_corr on held-out pairs of the topics that they are trained on."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from polyreward.analysis.bootstrap import (
    Between,
    Interval,
    between_trainings,
    bootstrap_weights,
    student_interval,
    with_trainings,
)
from polyreward.scoring.criteria_layout import LABELS

ALIKE = 5e-4  # draws that differ by less are alike, as they are printed
SIZES, SHARES = ["n_questions", "n_items", "n_seeds"], ["in_form_pct", "right_pct", "consistent_pct"]
COLUMNS = ["judge", *SIZES, *SHARES, "r_corr", "r_corr_low", "r_corr_high"]


def learning_table(
    tables: Mapping[str, pd.DataFrame],
    seeds: Mapping[str, Sequence[str]],
    contrasts: Sequence[tuple[str, str]],
    interval: Interval,
) -> pd.DataFrame:
    """Return a row for each judge and for each contrast of two: R_corr in the mean over questions and seeds.

    tables: {training: rows of held_out_verdicts}, of the same questions. seeds: {judge: its trainings}.
    r_corr: 2 p_right - 1, -1 to 1. right_pct: questions whose right label is the more probable one.
    consistent_pct: pairs of which the same answer wins in both orders, right or wrong; 0 for a judge that
    always names the same label. Intervals are by bootstrap over items, with the same draws for all judges,
    and the variance between seeds is added as in Table 1. Where all draws are alike the ends are NaN."""
    anyone = tables[next(iter(seeds.values()))[0]]
    tables = {name: table.set_index("id").loc[anyone["id"]] for name, table in tables.items()}
    members = pd.get_dummies(anyone["item"]).to_numpy(float)  # (questions, items)
    weights = bootstrap_weights(members.shape[1], interval, "held-out items")
    drawn = weights @ members.T  # of each question, in each draw: (1 + resamples, questions)
    values, between, records, freedom = {}, {}, [], members.shape[1] - 1
    for judge, names in seeds.items():
        rewards = np.stack([2 * tables[name]["p_right"].to_numpy() - 1 for name in names], axis=1)
        of_seeds = drawn @ rewards / drawn.sum(axis=1, keepdims=True)  # R_corr: (1 + resamples, seeds)
        values[judge] = of_seeds.mean(axis=1)
        between[judge] = [between_trainings(of_seeds)] if len(names) > 1 else []
        every = pd.concat({name: tables[name] for name in names}, names=["training", "id"])
        sides = np.sign(
            every["p_right"] - 1 / len(LABELS)
        )  # 1 if the right answer wins, -1 if the other does
        pairs = (
            every.index.get_level_values("id").str.rpartition("_").get_level_values(0)
        )  # without the order
        won = sides.groupby([every.index.get_level_values("training"), pairs]).sum().abs()
        shares = {
            "in_form_pct": 100 * every["in_form"].mean(),
            "right_pct": 100 * (sides > 0).mean(),
            "consistent_pct": 100 * (won == len(LABELS)).mean(),
        }
        estimate = _estimate(values[judge], freedom, between[judge], interval, highest=1)
        records.append({"judge": judge, "n_seeds": len(names), **shares, **estimate})
    for one, other in contrasts:
        lead, both = values[one] - values[other], between[one] + between[other]
        estimate = _estimate(lead, freedom, both, interval, highest=2)
        records.append({"judge": f"{one} - {other}", "n_seeds": len(seeds[one]), **estimate})
    sizes = {"n_questions": len(anyone), "n_items": members.shape[1]}
    return pd.DataFrame(records).assign(**sizes).reindex(columns=COLUMNS)


def _estimate(
    values: np.ndarray, freedom: int, between: Sequence[Between], interval: Interval, highest: int
) -> dict[str, float]:
    widened, freedom_of_all = with_trainings(values, freedom, between)
    ends = np.clip(student_interval(widened, interval.confidence, freedom_of_all), -highest, highest)
    low, high = ends if np.ptp(widened) > ALIKE else (np.nan, np.nan)
    return {"r_corr": values[0], "r_corr_low": low, "r_corr_high": high}
