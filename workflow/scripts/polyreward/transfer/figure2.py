"""Figure 2 of the transfer paper: densities of token-embedding norms, for all tokens and at matched
frequency."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from polyreward.artifacts.figures import DOTTED, TEXT_WIDTH, language_look, language_name, paper_style
from polyreward.core.errors import raise_all

PANEL_HEIGHT_IN = 1.56
LEGEND_LINE_IN = 0.13
HEAD_HEIGHT_IN = 0.6  # a base model's name above its panels, the axis label below
BASES_ACROSS = 2  # more would leave no room for the legends
PANEL_TITLES = {"all": "all tokens", "matched": "matched frequency"}
FOOT = 0.12  # height of a line for a single value, as a share of the panel: it is no density
FEWEST = 10  # values for a density; two values make a spike that hides all others


@paper_style()
def draw_figure2(
    norms: pd.DataFrame, ks: pd.DataFrame, source: str, groups: Sequence[Sequence[str]]
) -> Figure:
    """Draw densities: two columns per base (all tokens, matched frequency), a row per group of languages.

    Each language is drawn with the source language: all of its tokens, or those matched with it, dotted in
    the language's colour. All panels of a base share both axes. norms, ks: from embedding_norms.base_norms.
    """
    bases = list(norms["base_model"].unique())
    unknown = sorted({language for group in groups for language in group} - set(norms["eval_language"]))
    raise_all(
        (f"no norms of `{language}`; give its texts, or leave it out of the groups" for language in unknown),
        "Figure 2",
    )
    across, down = min(BASES_ACROSS, len(bases)), math.ceil(len(bases) / BASES_ACROSS)
    height = HEAD_HEIGHT_IN + sum(PANEL_HEIGHT_IN + LEGEND_LINE_IN * (1 + len(group)) for group in groups)
    figure = Figure(figsize=(TEXT_WIDTH * across / BASES_ACROSS, down * height), layout="constrained")
    for part, base in zip(figure.subfigures(down, across, squeeze=False).flat, bases, strict=False):
        _draw_base(part, norms[norms["base_model"] == base], ks[ks["base_model"] == base], source, groups)
    return figure


def _draw_base(
    part: SubFigure, norms: pd.DataFrame, ks: pd.DataFrame, source: str, groups: Sequence[Sequence[str]]
) -> None:
    facts = ks.iloc[0]
    kind = "norms constant over the vocabulary" if facts["constant_norms"] else "norms over the vocabulary"
    numbers = f"mean {facts['vocabulary_norm_mean']:#.3g}, sd {facts['vocabulary_norm_sd']:#.3g}"
    part.suptitle(
        f"{facts['base_model']}\n{kind}: {numbers}", fontsize=7.5, linespacing=1.4, parse_math=False
    )
    grid = part.subplots(len(groups), 2, sharex=True, sharey=True, squeeze=False)
    for axes, group in zip(grid, groups, strict=True):
        for axis, panel in zip(axes, PANEL_TITLES, strict=True):
            _draw_panel(axis, norms[norms["panel"] == panel], ks[ks["panel"] == panel], source, group)
    for axis, title in zip(grid[0], PANEL_TITLES.values(), strict=True):
        axis.set_title(title)
    grid[0, 0].set_xlim(norm_limits(norms.loc[norms["panel"] == "all", "norm"]))
    grid[0, 0].set_ylim(bottom=0)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10], min_n_ticks=2))
    part.supxlabel("L2 norm of the token embedding", fontsize=7.5)


def _draw_panel(axis: Axes, norms: pd.DataFrame, ks: pd.DataFrame, source: str, group: Sequence[str]) -> None:
    handles, labels, dotted = [], [], []
    whole = norms.loc[norms["eval_language"] == source, "norm"]  # none in a matched panel
    if len(whole):
        handles.append(_density(axis, whole, language_look(source).colour, language_look(source).dashes))
        labels.append(f"{language_name(source)}: n={len(whole)}")
    for language in group:
        color, _, dashes = language_look(language)
        sides = dict(list(norms[norms["eval_language"] == language].groupby("side")["norm"]))
        handles.append(_density(axis, sides.get("language", ()), color, dashes))
        labels.append(_label(ks[ks["eval_language"] == language].iloc[0]))
        if "source" in sides:
            dotted.append(_density(axis, sides["source"], color, DOTTED))
    if dotted:
        handles.append(tuple(dotted))
        labels.append(f"{language_name(source)}, matched")
    axis.set_xlabel("")
    first = axis.get_subplotspec().is_first_col()
    axis.set_ylabel("density" if first else "")
    axis.tick_params(labelbottom=True, labelleft=True)
    axis.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(-0.42 if first else -0.2, -0.2),  # text is wider than a panel
        frameon=False,
        handlelength=2.2,
        handletextpad=0.5,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.25,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.3)},
    )


def _density(axis: Axes, values: Sequence[float], color: str, dashes) -> Line2D:
    """Draw a density, or a short line per value where they are too few or too similar; return a legend
    handle."""
    look = {"color": color, "linestyle": dashes, "linewidth": 1.2}
    if len(values) >= FEWEST and len(set(values)) > 1:
        seaborn.kdeplot(x=np.asarray(values), ax=axis, common_norm=False, cut=3, gridsize=400, **look)
    else:
        for value in sorted(set(values)):
            axis.axvline(value, ymax=FOOT, **look)
    return Line2D([], [], **look)


def _label(row: pd.Series) -> str:
    name = language_name(row["eval_language"])
    return (
        f"{name}: n={row['n_language']}, KS {row['ks']:.2f}" if row["n_language"] else f"{name}: none matched"
    )


def norm_limits(norms: Sequence[float]) -> tuple[float, float]:
    """Return the range of norms to show: five standard deviations and at least 1% about the mean, where norms
    are."""
    mean, spread = np.mean(norms), 5 * np.std(norms)
    low, high = max(np.min(norms), mean - spread), min(np.max(norms), mean + spread)
    margin = 0.1 * (high - low)
    return float(max(min(low - margin, 0.99 * mean), 0)), float(max(high + margin, 1.01 * mean))
