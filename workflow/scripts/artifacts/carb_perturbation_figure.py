"""Draw how far each rewrite moves each reward model's scores."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style, reach, save_figure, span
from polyreward.carb.figures.figure2 import LOOKS
from polyreward.carb.perturbation.perturbations import PERTURBATIONS
from polyreward.carb.perturbation.sensitivity import PERTURBATION_COLUMNS
from polyreward.core.tables import as_written, read_exact, write_table
from polyreward.ops.jobs import run

PLOTTED = [
    "scorer",
    "kind",
    "perturbation",
    "change",
    "low",
    "high",
    "size",
    "n_items",
    "index",
    "index_low",
    "index_high",
]
TITLES = {name: f"{name}: {rewrite.title}" for name, rewrite in PERTURBATIONS.items()}


@paper_style()
def draw_perturbations(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw a panel per perturbation and one for the index; a row per scorer, in the table's order.

    A scorer without a value has an empty row. Where no item was rewritten, the title says so.

    Args:
        table: rows of sensitivity.perturbation_table with at least the columns PLOTTED.
        confidence: the intervals' level, as text ("95%").
    """
    scorers = list(table["scorer"].unique())
    figure = Figure(figsize=(TEXT_WIDTH, 0.95 + 0.17 * len(scorers)), layout="constrained")
    axes = figure.subplots(1, len(PERTURBATIONS) + 1, sharey=True)
    for axis, perturbation in zip(axes, PERTURBATIONS, strict=False):
        rows = table[table["perturbation"] == perturbation]
        places = rows["scorer"].map(scorers.index)
        axis.barh(
            places,
            2 * rows["size"],
            left=-rows["size"],
            height=0.72,
            color="0.88",
            label="mean size of a change",
        )
        _draw_points(axis, rows, places, ("change", "low", "high"))
        axis.set_title(TITLES[perturbation])
        axis.set_xlabel("relative change")
        if axis is not axes[0]:
            axis.sharex(axes[0])
    index = table.drop_duplicates("scorer")
    _draw_points(axes[-1], index, index["scorer"].map(scorers.index), ("index", "index_low", "index_high"))
    axes[-1].set_title("index")
    axes[-1].set_xlim(-1, 1)
    axes[-1].set_xticks([-1, 0, 1], ["\u22121\nsurface", "0", "1\nfact"])
    axes[0].set_yticks(range(len(scorers)), scorers)
    axes[0].set_ylim(len(scorers) - 0.4, -0.6)
    for axis in axes:
        axis.use_sticky_edges = False  # a bar then ends before the axis does
        axis.tick_params(axis="y", length=0)
        axis.spines["left"].set_visible(False)
    if not table["n_items"].any():
        figure.suptitle("not tested: no item brings rewrites")
    said = f"n = {span(table['n_items'])} items; lines: {confidence} intervals"
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), title=said)
    return figure


def _draw_points(axis: Axes, rows: pd.DataFrame, places: pd.Series, names: tuple[str, str, str]) -> None:
    axis.axvline(0, color="0.4", linewidth=0.7)
    for kind, of_kind in rows.groupby("kind", sort=False):
        colour, marker = LOOKS[kind]
        axis.errorbar(
            of_kind[names[0]],
            places[of_kind.index],
            xerr=reach(of_kind, *names),
            fmt=marker,
            color=colour,
            markersize=4,
            markeredgecolor="black",
            markeredgewidth=0.4,
            linewidth=1.1,
            label=kind,
        )


def main(snakemake):
    output = snakemake.output
    table = as_written(read_exact(snakemake.input[0], PERTURBATION_COLUMNS)[PLOTTED])
    write_table(table, output.csv, PLOTTED)
    save_figure(draw_perturbations(table, snakemake.params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
