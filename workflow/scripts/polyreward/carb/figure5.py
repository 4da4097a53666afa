"""Figure 5 of the CARB paper: what a reward model's picks are worth, against its score on each benchmark."""

import numpy as np
import pandas as pd
import statsmodels.api as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style
from polyreward.carb.correlation import BENCHMARKS, FEWEST_BASES, POOLED
from polyreward.carb.figure2 import LOOKS

AXES = dict(zip(BENCHMARKS, ("CARB score (%)", "translated RewardBench score (%)"), strict=True))
RATING_NAMES = {"match": "accepted answers (%)", "chrf": "chrF of the picks"}


def plotted(points: pd.DataFrame, rating: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows, those over all policies, and the columns of the points that the figure shows."""
    columns = ["policy", "scorer", "kind", *BENCHMARKS, rating, "n_questions", "n_candidates"]
    return points.loc[points["policy"] == POOLED, columns], columns


@paper_style()
def draw_validity(points: pd.DataFrame, correlations: pd.DataFrame, rating: str, confidence: float) -> Figure:
    """Draw for each benchmark (a column) the reward models, their line and the bounds, over all policies.

    points: as `plotted` gives them, bounds among them. correlations: correlation_table's rows of the same rating. confidence: the
    band's level, a fraction."""
    figure = Figure(figsize=(TEXT_WIDTH, 2.8), layout="constrained")
    axes = figure.subplots(1, len(AXES), sharey=True)
    pooled = correlations[correlations["policy"] == POOLED].set_index("benchmark")
    for axis, (benchmark, name) in zip(axes, AXES.items(), strict=True):
        _draw_panel(axis, points, pooled.loc[benchmark], benchmark, rating, confidence)
        axis.set_title(_title(pooled.loc[benchmark]), parse_math=False)
        axis.set_xlabel(name)
    axes[0].set_ylabel(RATING_NAMES[rating])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))
    return figure


def _title(found: pd.Series) -> str:
    decided = f"p = {found['p_permuted']:.3g}" if found["n_bases"] >= FEWEST_BASES else "not decided"
    return f"r² = {found['r2']:.3f}, {decided}, n = {found['n']:.0f} ({found['n_bases']:.0f} bases)"


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
