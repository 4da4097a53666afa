"""Draw each reward model's consistency over pairs of languages."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style, save_figure, span
from polyreward.carb.perturbation.sensitivity import PAIR_COLUMNS
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run

COLUMNS = 4  # of panels


@paper_style()
def draw_consistency(table: pd.DataFrame) -> Figure:
    """Draw a panel per reward model: the consistency of each pair of languages, from 0 to 1."""
    languages = list(dict.fromkeys([*table["language_1"], *table["language_2"]]))
    scorers = list(table["scorer"].unique())
    rows = math.ceil(len(scorers) / COLUMNS)
    figure = Figure(figsize=(TEXT_WIDTH, 0.95 + 1.75 * rows), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False, sharex=True, sharey=True)
    for axis, scorer in zip(axes.flat, scorers, strict=False):
        grid = np.full((len(languages), len(languages)), np.nan)
        of_scorer = table[table["scorer"] == scorer]
        for pair in of_scorer.itertuples():
            one, two = languages.index(pair.language_1), languages.index(pair.language_2)
            grid[max(one, two), min(one, two)] = pair.consistency
        image = axis.imshow(grid[1:, :-1], vmin=0, vmax=1, cmap="viridis")
        empty = "no spread" if of_scorer["n_items"].any() else "not tested, no item"
        axis.set_title(f"{scorer}\n{f'mean {np.nanmean(grid):.2f}' if np.isfinite(grid).any() else empty}")
        axis.set_xticks(range(len(languages) - 1), languages[:-1])
        axis.set_yticks(range(len(languages) - 1), languages[1:])
        axis.tick_params(length=0, labelsize=7, labelbottom=True, labelleft=True, pad=1)
        axis.spines[:].set_visible(False)
    for axis in axes.flat[len(scorers) :]:
        axis.set_visible(False)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.4, aspect=30, pad=0.02)
    count = f"n = {span(table['n_items'])} items a pair"
    bar.set_label(f"consistency: 1 where both languages' answers have the same score ({count})")
    return figure


def main(snakemake):
    table, output = read_exact(snakemake.input[0], PAIR_COLUMNS), snakemake.output
    write_table(table, output.csv, PAIR_COLUMNS)
    save_figure(draw_consistency(table), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
