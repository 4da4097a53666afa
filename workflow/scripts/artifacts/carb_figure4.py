"""Draw Figure 4 of the CARB paper."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import COLUMN_WIDTH, OTHERS, TEXT_WIDTH, paper_style, reach, save_figure
from polyreward.carb.downstream.correlation import BENCHMARKS, CORRELATE, CORRELATION_COLUMNS, POOLED
from polyreward.carb.figures.figure5 import RATING_NAMES, counted_bases
from polyreward.core.naming import BEST_OF_N
from polyreward.core.tables import read_exact, write_table
from polyreward.ops.jobs import run

KEY, R = ["downstream", "policy", "benchmark", "rating"], ["r", "r_low", "r_high"]
PLOTTED = [*KEY, *R, "p_permuted", "n", "n_bases", "verdict"]
NAMES = dict(zip(BENCHMARKS, ("CARB", "translated RewardBench"), strict=True))
IN_ONE_COLUMN = 3  # policies, the pooled one among them
SPREAD = 0.14  # between two benchmarks, in units of a policy's width


def plotted(correlations: pd.DataFrame, rating: str) -> pd.DataFrame:
    """Return the figure's rows and columns: best-of-N, by a rating, or chrF of sets without it."""
    rows = correlations[correlations["selection"] == BEST_OF_N]
    has_it = rows["downstream"].isin(rows.loc[rows["rating"] == rating, "downstream"])
    return rows.loc[rows["rating"] == has_it.map({True: rating, False: "chrf"}), PLOTTED]


@paper_style()
def draw_correlations(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw each benchmark's correlation with the rating: a row per set, by policy, the pooled one last where
    there are several.

    Filled marks are decided; an unknown correlation has none. confidence: such as "95%"."""
    policies = sorted(table["policy"].unique(), key=lambda name: name == POOLED)  # else in the table's order
    if policies[1:] == [POOLED]:  # whose numbers are those of the only policy
        del policies[1]
    sets = list(table.groupby("downstream", sort=False))
    wide = len(policies) > IN_ONE_COLUMN
    size = (TEXT_WIDTH if wide else COLUMN_WIDTH, 0.5 + 2.1 * len(sets))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(sets), squeeze=False)[:, 0]
    for axis, (name, rows) in zip(axes, sets, strict=True):
        _draw_set(axis, rows, policies, confidence)
        if len(sets) > 1:
            axis.set_title(name, parse_math=False)
    look = {"ncols": 3, "columnspacing": 1, "handletextpad": 0.2}
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", **look)
    return figure


def _draw_set(axis: Axes, table: pd.DataFrame, policies: list[str], confidence: str) -> None:
    for number, (benchmark, look) in enumerate(zip(NAMES, OTHERS, strict=False)):
        rows = table[table["benchmark"] == benchmark].set_index("policy").loc[policies]
        places = np.arange(len(policies)) + SPREAD * (2 * number - 1)
        line = {"fmt": "none", "ecolor": look.colour, "linewidth": 1.1, "capsize": 2}
        axis.errorbar(places, rows["r"], yerr=reach(rows, *R), **line)
        mark = {"marker": look.marker, "linestyle": "none", "color": look.colour, "markersize": 5}
        decided = (rows["verdict"] == CORRELATE).to_numpy()
        for those, face in ((decided, look.colour), (~decided, "white")):
            axis.plot(places[those], rows["r"][those], **mark, markerfacecolor=face)
        axis.plot([], [], **mark, label=NAMES[benchmark])
    open_mark = {"marker": OTHERS[0].marker, "color": "0.3", "markerfacecolor": "white"}
    axis.plot([], [], **open_mark, linestyle="none", markersize=5, label="not decided")
    axis.axhline(0, color="0.4", linewidth=0.7)
    axis.set(xlim=(-0.5, len(policies) - 0.5), ylim=(-1.05, 1.05))
    axis.set_xticks(range(len(policies)), [_label(name, table) for name in policies])
    axis.tick_params(axis="x", length=0)
    known = table["r_low"].notna().any()
    intervals = f"[{confidence}, over bases]" if known else f"[no {confidence} interval:\nfewer than 4 bases]"
    axis.set_ylabel(f"correlation with\n{RATING_NAMES[table['rating'].iloc[0]]}\n{intervals}")


def _label(policy: str, table: pd.DataFrame) -> str:
    first = table[table["policy"] == policy].iloc[0]
    name = textwrap.fill("all policies" if policy == POOLED else policy, 12)
    return f"{name}\nn = {first['n']:.0f}\n({counted_bases(first['n_bases'])})"


def main(snakemake):
    params, output = snakemake.params, snakemake.output
    table = plotted(read_exact(snakemake.input[0], CORRELATION_COLUMNS), params.rating)
    write_table(table, output.csv, PLOTTED)
    save_figure(draw_correlations(table, params.confidence), output.png, output.pdf)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
