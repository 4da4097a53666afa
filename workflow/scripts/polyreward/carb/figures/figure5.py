"""Figure 5 of the CARB paper: what reward models' choices are worth, against their scores on benchmarks."""

from itertools import chain

import numpy as np
import pandas as pd
import statsmodels.api as sm
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, at_least, paper_style
from polyreward.carb.downstream.correlation import (
    BEFORE,
    BENCHMARKS,
    FEWEST_BASES,
    OF,
    POOLED,
    RATINGS,
    shown_rating,
)
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.naming import BEST_OF_N

AXES = dict(zip(BENCHMARKS, ("CARB score (%)", "translated RewardBench score (%)"), strict=True))
NARROWEST = 0.5  # of an axis of ratings, whose scale is 0 to 100
RATING_NAMES = {"match": "accepted answers (%)", "chrf": "chrF of the answers"}
BOUNDS = {  # {scorer of kind bound: (its name in the legend, dashes)}
    "oracle": ("oracle pick", (0, (5, 2))),
    "random": ("random pick", (0, (1, 1.5))),
    BEFORE: (BEFORE, (0, (5, 1.5, 1, 1.5))),
}


def plotted(points: pd.DataFrame, rating: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows, over all policies, and the columns that the figure shows; a set has one rating."""
    rows = points[points["policy"] == POOLED]
    shown = {of: shown_rating(of_set, rating) for of, of_set in rows.groupby("downstream", sort=False)}
    ratings = [name for name in RATINGS if name in shown.values()]
    columns = [*OF, "scorer", "kind", *BENCHMARKS, *ratings, "n_questions", "n_candidates"]
    of_row = rows["downstream"].map(shown)
    return rows[columns].assign(**{name: rows[name].where(of_row == name) for name in ratings}), columns


@paper_style()
def draw_rows(points: pd.DataFrame, correlations: pd.DataFrame, rating: str, confidence: float) -> Figure:
    """Draw for each set and selection (a row) and benchmark (a column) the reward models, line and bounds.

    confidence: of the band, a fraction."""
    groups = list(points.groupby(OF, sort=False))
    figure = Figure(figsize=(TEXT_WIDTH, 0.5 + 2.3 * len(groups)), layout="constrained")
    axes = figure.subplots(len(groups), len(AXES), sharex="col", sharey="row", squeeze=False)
    for row, (of, rows) in zip(axes, groups, strict=True):
        shown = shown_rating(rows, rating)
        at = (correlations[OF] == list(of)).all(axis=1) & (correlations["rating"] == shown)
        for axis, benchmark in zip(row, AXES, strict=True):
            found = correlations[at & (correlations["benchmark"] == benchmark)].iloc[0]
            _draw_panel(axis, rows, found, benchmark, shown, confidence)
            axis.set_title(_title(rows.iloc[0], found), parse_math=False)
        row[0].set_ylabel(RATING_NAMES[shown])
        row[0].set_ylim(at_least(row[0].get_ylim(), NARROWEST))
    for axis, name in zip(axes[-1], AXES.values(), strict=True):
        axis.set_xlabel(name)
    every = [zip(*reversed(axis.get_legend_handles_labels()), strict=True) for axis in axes[:, 0]]
    handles = dict(chain(*every))  # by label
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure


def counted_bases(number: float) -> str:
    """Return a number of bases in words."""
    return f"{number:.0f} base{'s' if number != 1 else ''}"


def _title(row: pd.Series, found: pd.Series) -> str:
    how = f"best of {row['n_candidates']:.0f}" if row["selection"] == BEST_OF_N else "trained by GRPO"
    decided = f"p = {found['p_permuted']:.3g}" if found["n_bases"] >= FEWEST_BASES else "not decided"
    fit = f"r² = {found['r2']:.3f}, " if np.isfinite(found["r2"]) else ""
    counts = f"n = {found['n']:.0f} ({counted_bases(found['n_bases'])})"
    return f"{row['downstream']}, {how}\n{fit}{decided}, {counts}"


def _draw_panel(
    axis: Axes, points: pd.DataFrame, found: pd.Series, benchmark: str, rating: str, confidence: float
) -> None:
    models = points[points["kind"] != "bound"]
    for kind, rows in models.groupby("kind", sort=False):
        of_kind = REWARD_KINDS[kind]
        look = {"color": of_kind.colour, "marker": of_kind.marker, "s": 18}
        look |= {"edgecolor": "black", "linewidth": 0.4}
        axis.scatter(rows[benchmark], rows[rating], **look, zorder=3, label=kind)
    if np.isfinite(found["slope"]):
        x = np.linspace(models[benchmark].min(), models[benchmark].max(), 100)
        y = found["intercept"] + found["slope"] * x
        axis.plot(x, y, color="black", linewidth=1, label="least squares")
        ends = band(models[benchmark], models[rating], x, confidence)
        axis.fill_between(x, *ends, color="0.85", linewidth=0, label=f"{100 * confidence:g}% band")
    for bound in points.loc[points["kind"] == "bound"].itertuples():
        name, dashes = BOUNDS[bound.scorer]
        axis.axhline(getattr(bound, rating), color="0.3", linewidth=0.9, linestyle=dashes, label=name)


def band(x: np.ndarray, y: np.ndarray, at: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of the regression line's mean at some points: (low, high)."""
    fit = sm.OLS(np.asarray(y), sm.add_constant(np.asarray(x))).fit()
    ends = fit.get_prediction(sm.add_constant(at)).conf_int(alpha=1 - confidence)
    return ends[:, 0], ends[:, 1]
