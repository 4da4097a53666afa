"""Figure 1 of the transfer paper: how training in one language changes the representations of all."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polyreward.analysis.geometry import COLUMNS
from polyreward.artifacts.figures import (
    BASE,
    COLUMN_WIDTH,
    TEXT_WIDTH,
    Look,
    language_look,
    language_name,
    paper_style,
    plain_log,
    reach,
)

__all__ = ["COLUMNS", "draw_figure1"]
SPACING = 0.14  # between reward models at one singular value, or on one language's passages


@paper_style()
def draw_figure1(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw geometry_table's rows, a column per base: share of the largest singular value, spectrum, CKA with
    the base.

    confidence: the intervals' level, as text ("95%")."""
    bases, trainings = list(table["base_model"].unique()), list(table["rm_training"].unique())
    is_wide = len(bases) > 1
    figure = Figure(figsize=(TEXT_WIDTH if is_wide else COLUMN_WIDTH, 5.6), layout="constrained")
    axes = figure.subplots(3, len(bases), sharey="row", squeeze=False, height_ratios=[1.15, 1, 1])
    for column, base in enumerate(bases):
        of_base = table[table["base_model"] == base]
        _shares(axes[0, column], of_base)
        _spectrum(axes[1, column], of_base)
        _cka(axes[2, column], of_base)
        axes[0, column].set_title(f"{base} (n = {of_base['n_passages'].iloc[0]} passages)", parse_math=False)
    plain_log(axes[1, 0].yaxis)
    axes[0, 0].set_ylabel(f"share of the largest\nsingular value [{confidence}]")
    axes[1, 0].set_ylabel(f"share of each\nsingular value [{confidence}]")
    axes[2, 0].set_ylabel(f"linear CKA with the base\n[{confidence}]")
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, linestyle="", markersize=4)
        for look in map(_look, trainings)
    ]
    names = list(map(_name, trainings))
    columns = len(names) if is_wide else 3
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=columns,
        title="reward model trained in",
    )
    return figure


def _look(training: str) -> Look:
    return BASE if training == "base" else language_look(training)


def _name(training: str) -> str:
    return "Base" if training == "base" else language_name(training)


def _shares(axis: Axes, table: pd.DataFrame) -> None:
    shares = table[table["quantity"] == "share"]
    names = list(map(_name, shares["rm_training"]))
    fills = [_look(training).colour for training in shares["rm_training"]]
    dark = {"linewidth": 0.9, "ecolor": "0.35"}
    axis.bar(
        names,
        shares["value"],
        yerr=reach(shares, "value"),
        color=fills,
        capsize=2.5,
        width=0.66,
        error_kw=dark,
    )
    for place, (value, high) in enumerate(zip(shares["value"], shares["high"], strict=True)):
        axis.annotate(
            f"{value:.2f}",
            (place, max(value, high)),
            (0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
        )
    floor = 1 / table.loc[table["quantity"] == "spectrum", "key"].nunique()
    # The least that there can be: all directions alike.
    axis.axhline(floor, color="black", linewidth=0.7, linestyle=":")
    axis.set_ylim(0, 1.08)
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axis.tick_params(axis="x", length=0)


def _spectrum(axis: Axes, table: pd.DataFrame) -> None:
    found = table[table["quantity"] == "spectrum"]
    axis.set_yscale("log")
    ranks = _side_by_side(axis, found)
    axis.set_xticks(range(len(ranks)), ranks)
    axis.set_xlabel("singular value, the largest first")


def _cka(axis: Axes, table: pd.DataFrame) -> None:
    found = table[table["quantity"] == "cka"]
    languages = _side_by_side(axis, found)
    axis.set_xticks(range(len(languages)), [language_name(language) for language in languages])
    # CKA is 1 at most, its unbiased estimate is not where there is next to nothing to estimate it from
    note = "; hollow: estimated above 1" if (found["value"] > 1).any() else ""
    axis.set_xlabel(f"language of the passages{note}")


def _side_by_side(axis: Axes, table: pd.DataFrame) -> list[str]:
    """Draw each training's values with intervals next to the others', so that none hides another; return the
    keys, whose places are 0, 1, ...

    A value above 1, where an estimate of a share or of CKA cannot be, is hollow at 1."""
    keys, trainings = list(table["key"].unique()), list(table["rm_training"].unique())
    for number, (training, rows) in enumerate(table.groupby("rm_training", sort=False)):
        shift = SPACING * (number - (len(trainings) - 1) / 2)
        places = np.array([keys.index(key) + shift for key in rows["key"]])
        look, above = _look(training), (rows["value"] > 1).to_numpy()
        shown = rows.assign(value=rows["value"].clip(upper=1))
        axis.errorbar(
            places,
            shown["value"],
            yerr=reach(shown, "value"),
            color=look.colour,
            fmt=look.marker,
            markersize=3.5,
            linewidth=1,
        )
        hollow = {"color": look.colour, "markerfacecolor": "white", "markersize": 3.5}
        axis.plot(places[above], np.ones(above.sum()), look.marker, zorder=3, **hollow)
    axis.tick_params(axis="x", length=0)
    return keys
