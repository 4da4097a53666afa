"""Figure 2 of the CARB paper: scores by what the cultures' languages have in common."""

import math

import numpy as np
import pandas as pd
import seaborn
from babel import Locale
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style, reach
from polyreward.core.kinds import REWARD_KINDS

GROUP_COLUMNS = ["panel", "group", "cultures", "scorer", "kind", "score_pct", "low", "high", "n_items"]
PANELS = {"resource_class": "resource class", "family": "language family", "script": "script"}
ALL = "mean"  # of all reward models
MOSAIC = [["resource_class", "script"], ["family", "family"]]  # names of families are long


@paper_style()
def draw_figure2(table: pd.DataFrame, chance: float, confidence: str) -> Figure:
    """Draw a panel for each property: every reward model's score on each group of languages, and the mean.

    chance: in percent. confidence: such as "95%"."""
    figure = Figure(figsize=(TEXT_WIDTH, 4.9), layout="constrained")
    sizes = [table.loc[table["panel"] == panel, "group"].nunique() for panel in MOSAIC[0]]
    axes = figure.subplot_mosaic(MOSAIC, sharey=True, width_ratios=[size + 0.6 for size in sizes])
    for panel, axis in axes.items():
        _draw_panel(axis, table[table["panel"] == panel], chance, confidence)
        axis.set_title(PANELS[panel])
        axis.set_ylabel("CARB score (%)" if axis.get_subplotspec().is_first_col() else "")
    handles, labels = axes["family"].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))
    return figure


def _draw_panel(axis: Axes, table: pd.DataFrame, chance: float, confidence: str) -> None:
    groups = list(table["group"].unique())
    kinds = [kind for kind in REWARD_KINDS if kind in set(table["kind"])]
    for number, kind in enumerate(kinds):
        rows, of_kind = table[table["kind"] == kind], REWARD_KINDS[kind]
        places = rows["group"].map(groups.index) + 0.2 + 0.17 * number
        look = {"color": of_kind.colour, "marker": of_kind.marker, "s": 11}
        look |= {"linewidth": 0.3, "edgecolor": "black"}
        seaborn.scatterplot(x=places, y=rows["score_pct"], ax=axis, legend=False, label=kind, **look)
    mean = table[table["kind"] == ALL].set_index("group").loc[groups]
    look = {"fmt": "D", "color": "black", "markersize": 4, "linewidth": 1.2, "capsize": 2}
    label = f"mean of all reward models [{confidence}]"
    ends = reach(mean, "score_pct")
    axis.errorbar(np.arange(len(groups)) - 0.08, mean["score_pct"], yerr=ends, **look, label=label)
    axis.axhline(chance, color="0.4", linewidth=0.8, linestyle=":", label="chance")
    axis.set_xticks(np.arange(len(groups)) + 0.1, [_label(mean.loc[group]) for group in groups])
    axis.set_xlim(-0.5, len(groups) - 0.3)
    axis.set_xlabel("")


def _label(row: pd.Series) -> str:
    name = Locale("en").scripts.get(row.name, row.name)  # tables have scripts by their codes
    cultures = row["cultures"].split()
    count = math.ceil(len(cultures) / 3)  # at most three a line, the lines about alike
    width = math.ceil(len(cultures) / count)
    lines = [" ".join(cultures[start : start + width]) for start in range(0, len(cultures), width)]
    return "\n".join([name, *lines, f"n={row['n_items']}"])
