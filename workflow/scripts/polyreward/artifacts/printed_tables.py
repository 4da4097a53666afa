"""Our tables next to the papers' printed ones: cell by cell, and a scatter of the two."""

import math
import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from polyreward.artifacts.figures import OTHERS, SMALLEST, TEXT_WIDTH, looks_by_place, paper_style

COLUMNS = ["row", "column", "ours_model", "printed_model", "ours", "printed", "difference", "pairing"]
SAME, OTHER = "same model", "models and scale differ"
PERCENT = "%"
LEGEND_HEADS = ["ours_model", "column"]  # what colours and markers stand for
PANEL_IN = 2.3  # wide, and high; smaller where a text's width does not hold all
ABREAST = 4  # panels
TITLE_IN, LEGEND_LINE_IN = 0.5, 0.17
LETTER_IN, MARK_IN = 0.55 * SMALLEST / 72, 0.4  # of an entry of the legend


def long_cells(
    table: pd.DataFrame, models: pd.Series, rows: pd.Series, columns: Sequence[str]
) -> pd.DataFrame:
    """Return model, row, column and value of each cell that has a value; models, rows: one per table row."""
    keyed = table[list(columns)].assign(model=models, row=rows)
    return keyed.melt(["model", "row"], list(columns), var_name="column", value_name="value").dropna(
        subset=["row", "value"]
    )


def paired(ours: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return a row (COLUMNS) for each cell that we and the paper both have, and each pair of models.

    A model of ours is paired with the printed one of its name, whatever the case. One without such a
    counterpart is paired with every printed one that has none either.

    Args:
        ours: as long_cells returns them.
        printed: the same.
    """
    ours, printed = (
        table.rename(columns={"value": name, "model": f"{name}_model"})
        for name, table in {"ours": ours, "printed": printed}.items()
    )
    pairs = pd.merge(ours, printed, on=["row", "column"])
    same = pairs["ours_model"].str.lower() == pairs["printed_model"].str.lower()
    settled = pairs["ours_model"].isin(pairs["ours_model"][same]) | pairs["printed_model"].isin(
        pairs["printed_model"][same]
    )
    pairs = pairs.assign(
        difference=pairs["ours"] - pairs["printed"], pairing=same.map({True: SAME, False: OTHER})
    )
    return pairs[same | ~settled][COLUMNS]


@paper_style()
def draw_comparison(table: pd.DataFrame, number: str, units: pd.Series, names: Mapping[str, str]) -> Figure:
    """Draw ours over printed: a panel for each printed model, and lines of panels for each unit.

    The line is where both are equal.

    Args:
        table: as `paired` returns it.
        number: the paper's name for the table.
        units: the unit of each row, such as PERCENT; a row without one is not drawn.
        names: {column: what readers call it}, where they differ.
    """
    table = table[units.notna()].assign(unit=units.dropna())
    models, kinds = list(table["printed_model"].unique()), list(table["unit"].unique())
    if not models:
        figure = Figure(figsize=(TEXT_WIDTH / 2, 0.6))
        figure.text(0.5, 0.5, f"{number}: n = 0 cells are both ours and printed", ha="center", va="center")
        return figure
    abreast = min(len(models), ABREAST)
    lines_each = math.ceil(len(models) / abreast)
    entries = [
        *table["ours_model"].unique(),
        *(names.get(column, column) for column in table["column"].unique()),
    ]
    ncols = max(1, min(len(entries), int(TEXT_WIDTH / (LETTER_IN * max(map(len, entries)) + MARK_IN))))
    side, lines = min(PANEL_IN, TEXT_WIDTH / abreast), lines_each * len(kinds)
    height = 0.3 + LEGEND_LINE_IN * (1 + math.ceil(len(entries) / ncols)) + (side + TITLE_IN) * lines
    width = max(side * abreast, min(TEXT_WIDTH, ncols * (LETTER_IN * max(map(len, entries)) + MARK_IN)))
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(lines, abreast, squeeze=False)
    for place, unit in enumerate(kinds):
        panels = axes[place * lines_each : (place + 1) * lines_each].flat
        _draw_unit(list(panels), table[table["unit"] == unit], models, unit, table, names)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    shown = [entry for entry in zip(handles, labels, strict=True) if entry[1] not in LEGEND_HEADS]
    for axis in figure.axes:
        if axis.get_legend():
            axis.get_legend().remove()
    figure.legend(*zip(*shown, strict=True), loc="outside lower center", ncols=ncols)
    figure.suptitle(f"{number}: ours over printed; {' and '.join(table['pairing'].unique())}")
    return figure


def _draw_unit(
    axes: Sequence[Axes],
    cells: pd.DataFrame,
    models: Sequence[str],
    unit: str,
    table: pd.DataFrame,
    names: Mapping[str, str],
) -> None:
    """Draw the panels of one unit, all with the same limits; those that no model needs go."""
    low, high = cells[["ours", "printed"]].min().min(), cells[["ours", "printed"]].max().max()
    reach = 0.08 * (high - low) or 1.0
    for place, (axis, model) in enumerate(zip(axes, models, strict=False)):
        own = cells[cells["printed_model"] == model]
        _scatter(axis, own, table, names)
        axis.set_title(f"{textwrap.fill(model, 26)}\nn = {len(own)} cells")
        axis.set(xlim=(low - reach, high + reach), ylim=(low - reach, high + reach))
        axis.set_xlabel(f"printed, {unit}")
        axis.set_ylabel(f"ours, {unit}" if place % ABREAST == 0 else "")
        axis.tick_params(labelleft=place % ABREAST == 0)
        axis.xaxis.set_major_locator(MaxNLocator(5))
        axis.yaxis.set_major_locator(MaxNLocator(5))
    for axis in axes[len(models) :]:
        axis.remove()


def _scatter(axis: Axes, cells: pd.DataFrame, table: pd.DataFrame, names: Mapping[str, str]) -> None:
    shown_as = {column: names.get(column, column) for column in table["column"].unique()}
    shown, models = cells.assign(column=cells["column"].map(shown_as)), list(table["ours_model"].unique())
    colours = {model: look.colour for model, look in looks_by_place(models).items()}
    markers = {name: OTHERS[place % len(OTHERS)].marker for place, name in enumerate(shown_as.values())}
    seaborn.scatterplot(
        shown,
        x="printed",
        y="ours",
        hue=LEGEND_HEADS[0],
        style=LEGEND_HEADS[1],
        ax=axis,
        s=18,
        linewidth=0.3,
        palette=colours,
        markers=markers,
        hue_order=models,
        style_order=list(shown_as.values()),
    )
    axis.axline((0, 0), slope=1, color="black", linewidth=0.6, linestyle=":")
    axis.set_box_aspect(1)  # both axes have the same limits
