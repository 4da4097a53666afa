"""The lead of English that the transfer paper prints, by base: no run of ours is in it."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.figure import Figure

from polyreward.artifacts.figures import (
    BLACK,
    TEXT_WIDTH,
    language_look,
    language_name,
    paper_style,
    reach,
    span,
)

COLUMNS = ["base_model", "eval_language", "lead_points", "low", "high", "n_pairs"]
MEAN = "mean"  # over the target languages
STEP = 0.13  # between the marks of one base


def plotted_leads(checks: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure plots, from the table of printed checks: the lead by base and language, and the
    mean."""
    leads = checks[checks["check"].isin(["lead", "mean lead"])].fillna({"eval_language": MEAN})
    return leads.rename(columns={"value": "lead_points", "n": "n_pairs"})[COLUMNS].reset_index(drop=True)


@paper_style()
def draw_printed_leads(leads: pd.DataFrame, confidence: str) -> Figure:
    """Draw the lead in each target language and their mean, a group of marks for each base.

    leads: of plotted_leads, bases in order of size. confidence: such as "95%"."""
    figure = Figure(figsize=(TEXT_WIDTH * 0.75, 2.7), layout="constrained")
    axis = figure.subplots()
    bases, languages = (list(leads[name].unique()) for name in ("base_model", "eval_language"))
    axis.axhline(0, color="0.4", linewidth=0.8, linestyle=":")
    middle = (len(languages) - 1) / 2
    for place, language in enumerate(languages):
        rows = leads[leads["eval_language"] == language].set_index("base_model").loc[bases]
        at = np.arange(len(bases)) + STEP * (place - middle)
        whole = language == MEAN
        colour, marker = (BLACK, "o") if whole else language_look(language)[:2]
        ends = {"fmt": "none", "color": colour, "linewidth": 1.6 if whole else 0.9, "capsize": 2}
        axis.errorbar(at, rows["lead_points"], yerr=reach(rows, "lead_points"), **ends)
        look = {"color": colour, "marker": marker, "s": 42 if whole else 20, "linewidth": 0, "zorder": 3}
        label = "mean over languages" if whole else language_name(language)
        seaborn.scatterplot(x=at, y=rows["lead_points"], ax=axis, legend=False, label=label, **look)
    means = leads[leads["eval_language"] == MEAN].set_index("base_model").loc[bases]
    axis.set_xticks(range(len(bases)), [_label(mean) for _, mean in means.iterrows()])
    axis.set_xlim(-0.5, len(bases) - 0.5)
    axis.tick_params(axis="x", length=0)
    axis.set_xlabel("")
    axis.set_ylabel(f"English minus target RM,\npoints [{confidence}]")
    axis.set_title(f"as the paper prints it, n = {span(leads['n_pairs'])} pairs")
    figure.legend(loc="outside lower center", ncols=len(languages), handletextpad=0.3, columnspacing=1.2)
    return figure


def _label(mean: pd.Series) -> str:
    numbers = mean[["lead_points", "low", "high"]].astype(float)
    text = "mean {:+.1f} [{:+.1f}, {:+.1f}]".format(*numbers).replace("-", "\u2212")
    return f"{mean.name}\n{text}"
