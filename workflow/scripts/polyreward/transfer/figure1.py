"""Figure 1 of the transfer paper: what training in one language does to the representations of all."""

import pandas as pd
from matplotlib.figure import Figure

from polyreward.analysis.geometry import COLUMNS
from polyreward.artifacts.figures import TEXT_WIDTH, language_colours, paper_style

__all__ = ["COLUMNS", "draw_figure1"]
MARKERS = "osD^vPX"


@paper_style()
def draw_figure1(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw a column for each base: the share of the largest singular value, the whole spectrum, and CKA with the base.

    table: geometry_table's rows of all bases. confidence: the intervals' level, as text ("95%")."""
    bases, models = list(table["base_model"].unique()), list(table["rm_training"].unique())
    colours = {"base": (0.25, 0.25, 0.25), **language_colours(models[1:])}
    figure = Figure(figsize=(TEXT_WIDTH, 6.2), layout="constrained")
    axes = figure.subplots(3, len(bases), sharey="row", squeeze=False)
    for column, base in enumerate(bases):
        of_base = table[table["base_model"] == base]
        _shares(axes[0, column], of_base, colours)
        _spectrum(axes[1, column], of_base, colours)
        _cka(axes[2, column], of_base, colours)
        axes[0, column].set_title(f"{base} (n = {of_base['n_passages'].iloc[0]} passages)")
    axes[0, 0].set_ylabel(f"share of the largest\nsingular value [{confidence}]")
    axes[1, 0].set_ylabel("share of each\nsingular value")
    axes[2, 0].set_ylabel(f"linear CKA with the base\n[{confidence}]")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(models), title="reward model trained in", frameon=False)
    return figure


def _name(training: str) -> str:
    return "Base" if training == "base" else training.capitalize()


def _shares(axis, table: pd.DataFrame, colours: dict) -> None:
    shares = table[table["quantity"] == "share"]
    names = [_name(training) for training in shares["rm_training"]]
    reach = [shares["value"] - shares["low"], shares["high"] - shares["value"]]
    fills = [colours[training] for training in shares["rm_training"]]
    axis.bar(names, shares["value"], yerr=reach, color=fills, capsize=2, width=0.7, error_kw={"linewidth": 0.8})
    floor = 1 / table.loc[table["quantity"] == "spectrum", "key"].nunique()
    axis.axhline(floor, color="black", linewidth=0.6, linestyle=":")  # the least there can be: all directions alike
    axis.set_ylim(0, 1)


def _spectrum(axis, table: pd.DataFrame, colours: dict) -> None:
    groups = table[table["quantity"] == "spectrum"].groupby("rm_training", sort=False)
    for marker, (training, rows) in zip(MARKERS, groups, strict=False):
        axis.plot(rows["key"], rows["value"], color=colours[training], marker=marker, markersize=3.5, label=_name(training))
    axis.set_yscale("log")
    axis.set_xlabel("singular value, the largest first")


def _cka(axis, table: pd.DataFrame, colours: dict) -> None:
    found = table[table["quantity"] == "cka"]
    languages = list(found["key"].unique())
    groups = list(found.groupby("rm_training", sort=False))
    for number, (training, rows) in enumerate(groups):
        places = [languages.index(key) + 0.14 * (number - (len(groups) - 1) / 2) for key in rows["key"]]
        reach = [rows["value"] - rows["low"], rows["high"] - rows["value"]]
        axis.errorbar(places, rows["value"], yerr=reach, color=colours[training], fmt=MARKERS[number + 1], markersize=3.5,
                      linewidth=0.8)  # fmt: skip
    axis.set_xticks(range(len(languages)), [language.capitalize() for language in languages])
    axis.set_xlabel("language of the passages")
