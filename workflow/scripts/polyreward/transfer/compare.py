"""Our tables beside the papers' printed ones: cell by cell, and a scatter of the two."""

import math
import textwrap

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from polyreward.analysis.tables import VALUES
from polyreward.artifacts.figures import OTHERS, TEXT_WIDTH, looks_by_place, paper_style
from polyreward.core.errors import PolyrewardError
from polyreward.transfer.tables import SECTION_NAMES

COLUMNS = ["row", "column", "ours_model", "printed_model", "ours", "printed", "difference", "pairing"]
SAME, OTHER = "same model", "models and scale differ"
OFF_THE_SHELF, DELTA = "off the shelf", "delta"
LEGEND_HEADS = ["ours_model", "column"]  # what colours and markers stand for
PANEL_IN = 2.3  # wide, and high; smaller where a text's width does not hold all
TITLE_IN, LEGEND_IN = 0.45, 0.7


def compared(artifact: str, ours: pd.DataFrame, printed: pd.DataFrame, language: str | None) -> pd.DataFrame:
    """Return a row for each cell that we and the paper both have, and each pair of models.

    ours: the artifact's own table.
    printed: its file in resources/published/.
    language: of a table of one evaluation language. A model of ours stands beside the printed one of its name, whatever the
        case; where there is none, beside every printed one that has no such counterpart either.
    Raises PolyrewardError where nothing is in both."""
    shape = _language_table if language else {"table1": _table1, "table2": _table2}[artifact]
    cells = pd.merge(*shape(ours, printed, language), on=["row", "column"], suffixes=("_ours", "_printed"))
    pairs = cells.rename(
        columns={"value_ours": "ours", "value_printed": "printed", "model_ours": "ours_model", "model_printed": "printed_model"}
    )
    if pairs.empty:
        raise PolyrewardError(
            f"{artifact}: no cell is both in our table and in the printed one; correct `published` in the registry"
        )
    same = pairs["ours_model"].str.lower() == pairs["printed_model"].str.lower()
    settled = pairs["ours_model"].isin(pairs["ours_model"][same]) | pairs["printed_model"].isin(pairs["printed_model"][same])
    pairs = pairs.assign(difference=pairs["ours"] - pairs["printed"], pairing=same.map({True: SAME, False: OTHER}))
    return pairs[same | ~settled][COLUMNS]


def _table1(ours: pd.DataFrame, printed: pd.DataFrame, _: None) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = printed.set_index(["eval_language", "base_model", "rm_training"])[VALUES]
    delta = wide.xs("english", level=2) - wide.xs("target", level=2)
    whole = pd.concat([printed, delta.reset_index().assign(rm_training=DELTA)])
    return tuple(
        _long(table, table["base_model"], table["eval_language"] + " " + table["rm_training"]) for table in (ours, whole)
    )


def _table2(ours: pd.DataFrame, printed: pd.DataFrame, _: None) -> tuple[pd.DataFrame, pd.DataFrame]:
    wide = ours.pivot(index="reward_model", columns="eval_language", values="avg").reset_index()
    languages = [name for name in printed.columns.drop(["reward_model", "kind"]) if name in wide.columns]
    return tuple(_long(table, table["reward_model"], pd.Series("avg", table.index), languages) for table in (wide, printed))


def _language_table(ours: pd.DataFrame, printed: pd.DataFrame, language: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    own = printed[printed["eval_language"] == language]
    return (
        _long(ours, ours["base_model"].fillna(ours["reward_model"]), ours["rm_training"].fillna(OFF_THE_SHELF)),
        _long(own, own["base_model"], own["rm_language"].fillna(OFF_THE_SHELF)),
    )


def _long(table: pd.DataFrame, models: pd.Series, rows: pd.Series, columns: list[str] = VALUES) -> pd.DataFrame:
    """Return model, row, column and value of each cell."""
    keyed = table[columns].assign(model=models, row=rows)
    return keyed.melt(["model", "row"], columns, var_name="column", value_name="value").dropna(subset="value")


@paper_style()
def draw_comparison(table: pd.DataFrame, number: str) -> Figure:
    """Draw ours over printed: a panel for each printed model, differences between reward models in a row of their own.

    table: as `compared` gives.
    number: how the paper calls the table.
    The line is where both are equal."""
    deltas = table["row"].str.endswith(DELTA)
    rows = [part for part in (table[~deltas], table[deltas]) if len(part)]
    models = list(table["printed_model"].unique())
    side = min(PANEL_IN, TEXT_WIDTH / len(models))
    figure = Figure(figsize=(side * len(models), LEGEND_IN + (side + TITLE_IN) * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(models), sharex="row", sharey="row", squeeze=False)
    for line, part in zip(axes, rows, strict=True):
        for axis, model in zip(line, models, strict=True):
            _scatter(axis, part[part["printed_model"] == model], table)
            axis.set_title(f"{textwrap.fill(model, 26)}\nn = {(part['printed_model'] == model).sum()} cells")
        low, high = part[["ours", "printed"]].min().min(), part[["ours", "printed"]].max().max()
        line[0].set(xlim=(low - 3, high + 3), ylim=(low - 3, high + 3))
        unit = "difference (points)" if part["row"].str.endswith(DELTA).all() else "%"
        line[0].set_ylabel(f"ours, {unit}")
        for axis in line:
            axis.set_xlabel(f"printed, {unit}")
            axis.xaxis.set_major_locator(MaxNLocator(5))
            axis.yaxis.set_major_locator(MaxNLocator(5))
    entries = [entry for entry in zip(*axes[0, 0].get_legend_handles_labels(), strict=True) if entry[1] not in LEGEND_HEADS]
    for axis in axes.flat:
        axis.get_legend().remove()
    figure.legend(*zip(*entries, strict=True), loc="outside lower center", ncols=math.ceil(len(entries) / 2))
    pairings = " and ".join(table["pairing"].unique())
    figure.suptitle(f"{number}: ours over printed; {pairings}")
    return figure


def _scatter(axis: Axes, cells: pd.DataFrame, table: pd.DataFrame) -> None:
    columns = list(table["column"].unique())
    names = {column: {**SECTION_NAMES, "avg": "Avg."}.get(column, column) for column in columns}
    shown, models = cells.assign(column=cells["column"].map(names)), list(table["ours_model"].unique())
    colours = {model: look.colour for model, look in looks_by_place(models).items()}
    markers = {name: OTHERS[place % len(OTHERS)].marker for place, name in enumerate(names.values())}
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
        style_order=list(names.values()),
    )
    axis.axline((0, 0), slope=1, color="black", linewidth=0.6, linestyle=":")
    axis.set_box_aspect(1)  # both axes have the same limits
