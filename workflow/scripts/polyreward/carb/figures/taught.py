"""The figure of lessons: a matrix of languages that facts are taught in and asked in."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, language_name, paper_style, span
from polyreward.carb.culture.lessons import TAUGHT, UNSEEN
from polyreward.carb.culture.statistics import CHANCE
from polyreward.carb.culture.taught import NO_LESSONS

SHOWN = {TAUGHT: "the facts that were taught", UNSEEN: "topics that were not taught"}
DARK = 62  # percent above which a cell's text is white


@paper_style()
def draw_taught(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw best of four by language of the lessons (rows) and of the questions (columns), for each base.

    table: taught.TAUGHT_COLUMNS. Left, the facts that were taught; right, other topics. confidence: such as
    "95%". Without a taught reward model the figure says so."""
    if list(table["note"]) == [NO_LESSONS]:
        figure = Figure(figsize=(TEXT_WIDTH, 0.6))
        figure.text(0.5, 0.5, NO_LESSONS, ha="center", va="center")
        return figure
    bases = list(table["base"].unique())
    count = table["taught_in"].nunique()
    figure = Figure(figsize=(TEXT_WIDTH, 0.5 + len(bases) * (0.42 * count + 0.65)), layout="constrained")
    axes = figure.subplots(len(bases), len(SHOWN), squeeze=False)
    for row, base in zip(axes, bases, strict=True):
        for axis, (part, title) in zip(row, SHOWN.items(), strict=True):
            cells = table[(table["base"] == base) & (table["part"] == part)]
            image = _draw_matrix(axis, cells)
            n_topics = span(cells["topics"].astype(int))
            axis.set_title(f"{base}, n = {n_topics} topics:\n{title}")
        row[0].set_ylabel("taught in")
    for axis in axes[-1]:
        axis.set_xlabel("asked in")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label(f"best of four, % [{confidence}]")
    return figure


def _draw_matrix(axis: Axes, cells: pd.DataFrame):
    wide = cells.pivot(index="taught_in", columns="language", values="best_of_four")
    wide = wide.reindex(index=cells["taught_in"].unique(), columns=cells["language"].unique())
    image = axis.imshow(wide, cmap="Blues", vmin=CHANCE["best_of_four"], vmax=100, aspect="auto")
    for cell in cells.to_dict("records"):
        x, y = wide.columns.get_loc(cell["language"]), wide.index.get_loc(cell["taught_in"])
        ends = "" if pd.isna(cell["low"]) else f"\n[{cell['low']:.0f}, {cell['high']:.0f}]"
        colour = "white" if cell["best_of_four"] > DARK else "black"
        axis.text(
            x, y, f"{cell['best_of_four']:.0f}{ends}", ha="center", va="center", color=colour, fontsize=6
        )
    axis.set_xticks(range(wide.shape[1]), [language_name(name) for name in wide.columns])
    axis.set_yticks(range(wide.shape[0]), [language_name(name) for name in wide.index])
    axis.tick_params(length=0)
    return image
