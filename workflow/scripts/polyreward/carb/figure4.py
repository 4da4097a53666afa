"""Figures 4 and 5 of the CARB paper: what a reward model's picks are worth, against its score on each benchmark."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import statsmodels.api as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style
from polyreward.carb.correlation import BENCHMARKS, FEWEST_BASES
from polyreward.carb.figure2 import LOOKS

AXES = dict(zip(BENCHMARKS, ("CARB score (%)", "translated RewardBench score (%)"), strict=True))
RATING_NAMES = {"match": "accepted answers (%)", "chrf": "chrF of the picks"}


def plotted(points: pd.DataFrame, policies: Sequence[str], rating: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows and the columns of the points that a figure of some policies shows."""
    columns = ["policy", "scorer", "kind", *BENCHMARKS, rating, "n_questions", "n_candidates"]
    return points.loc[points["policy"].isin(policies), columns], columns


@paper_style()
def draw_validity(points: pd.DataFrame, correlations: pd.DataFrame, rating: str, confidence: float) -> Figure:
    """Draw for each policy (a row) and benchmark (a column) the reward models, their line and the bounds.

    points: a row per policy and scorer, bounds among them (validity.POINT_COLUMNS). correlations: correlation_table's rows of
    the same policies and rating. confidence: the band's level, a fraction."""
    policies = list(points["policy"].unique())
    figure = Figure(figsize=(TEXT_WIDTH, 0.5 + 2.3 * len(policies)), layout="constrained")
    axes = figure.subplots(len(policies), len(AXES), sharex="col", sharey="row", squeeze=False)
    for row, policy in zip(axes, policies, strict=True):
        of_policy = points[points["policy"] == policy]
        for axis, benchmark in zip(row, AXES, strict=True):
            found = correlations[(correlations["policy"] == policy) & (correlations["benchmark"] == benchmark)].iloc[0]
            _draw_panel(axis, of_policy, found, benchmark, rating, confidence)
            axis.set_title(_title(policy, found, len(policies)), parse_math=False)
        row[0].set_ylabel(RATING_NAMES[rating])
    for axis, name in zip(axes[-1], AXES.values(), strict=True):
        axis.set_xlabel(name)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))
    return figure


def _title(policy: str, found: pd.Series, policies: int) -> str:
    whose = f"{policy}: " if policies > 1 else ""
    decided = f"p = {found['p_permuted']:.3g}" if found["n_bases"] >= FEWEST_BASES else "not decided"
    return f"{whose}r² = {found['r2']:.3f}, {decided}, n = {found['n']:.0f} ({found['n_bases']:.0f} bases)"


def _draw_panel(axis: Axes, points: pd.DataFrame, found: pd.Series, benchmark: str, rating: str, confidence: float) -> None:
    bounds = points[points["kind"] == "bound"].set_index("scorer")[rating]
    models = points[points["kind"] != "bound"]
    for kind, rows in models.groupby("kind", sort=False):
        colour, marker = LOOKS[kind]
        axis.scatter(
            rows[benchmark],
            rows[rating],
            color=colour,
            marker=marker,
            s=18,
            edgecolor="black",
            linewidth=0.4,
            zorder=3,
            label=kind,
        )
    x = np.linspace(models[benchmark].min(), models[benchmark].max(), 100)
    if np.isfinite(found["slope"]):
        axis.plot(x, found["intercept"] + found["slope"] * x, color="black", linewidth=1, label="least squares")
        ends = band(models[benchmark], models[rating], x, confidence)
        axis.fill_between(x, *ends, color="0.85", linewidth=0, label=f"{100 * confidence:g}% band")
    for name, dashes in (("oracle", (0, (5, 2))), ("random", (0, (1, 1.5)))):
        axis.axhline(bounds[name], color="0.3", linewidth=0.9, linestyle=dashes, label=f"{name} pick")


def band(x: np.ndarray, y: np.ndarray, at: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of the regression line's mean at some points: (low, high)."""
    fit = sm.OLS(np.asarray(y), sm.add_constant(np.asarray(x))).fit()
    ends = fit.get_prediction(sm.add_constant(at)).conf_int(alpha=1 - confidence)
    return ends[:, 0], ends[:, 1]
