"""Draw Table 1 and figures as the README shows them, from a finished run:

python docs/images/draw.py results/table1.csv docs/images/table1.png
python docs/images/draw.py results/figure1.csv docs/images/figure1.png
python docs/images/draw.py results/printed.csv docs/images/printed_leads.png
"""

import argparse
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polyreward.artifacts.figures import TEXT_WIDTH, language_look, language_name, paper_style, reach
from polyreward.core.tables import read_csv
from polyreward.transfer.figure1 import draw_figure1
from polyreward.transfer.printed_leads import draw_printed_leads, plotted_leads

CONFIDENCE = "95%"  # of the default settings
MARKERS = {"target": ("s", -0.14), "english": ("o", 0.14)}  # and how far from the middle of its row


@paper_style()
def draw_table1(table: pd.DataFrame) -> Figure:
    """Draw both reward models' averages with their intervals, a row for each language, and their difference
    next to them.

    A target language's reward model has that language's colour, the English one English's, as in every
    figure."""
    bases, languages = list(table["base_model"].unique()), list(table["eval_language"].unique())
    figure = Figure(figsize=(TEXT_WIDTH, 2.3), layout="constrained")
    axes = figure.subplots(1, len(bases), sharex=True, sharey=True, squeeze=False)[0]
    for axis, base in zip(axes, bases, strict=True):
        rows = table[table["base_model"] == base].set_index(["rm_training", "eval_language"])
        for place, language in enumerate(languages):
            for training, (marker, shift) in MARKERS.items():
                found = rows.loc[[(training, language)]]
                colour = language_look("en" if training == "english" else language).colour
                ends = reach(found, "avg", "avg_low", "avg_high")
                axis.errorbar(
                    found["avg"], place + shift, xerr=ends, fmt=marker, color=colour, capsize=2, markersize=5
                )
            delta = rows.loc[("delta", language), ["avg", "avg_low", "avg_high"]].astype(float)
            delta = delta.round(1) + 0.0  # no -0.0
            text = "\u0394 {:+.1f} [{:+.1f}, {:+.1f}]".format(*delta).replace("-", "\u2212")
            axis.text(1.0, place, text, transform=axis.get_yaxis_transform(), va="center", ha="right")
        axis.axvline(50, color="0.6", linewidth=0.8, linestyle=":")
        axis.set_title(base)
        axis.set_xlabel(f"accuracy, average of four sections, % [{CONFIDENCE}]")
    axes[0].set_yticks(range(len(languages)), [language_name(code) for code in languages])
    axes[0].set_xlim(44, 122)
    axes[0].set_xticks([50, 60, 70, 80])
    axes[0].set_ylim(len(languages) - 0.5, -0.5)
    names = {"target": "the target language (its colour)", "english": "English"}
    colours = {"target": "0.5", "english": language_look("en").colour}
    handles = [
        Line2D(
            [], [], linestyle="", marker=marker, color=colours[training], markersize=5, label=names[training]
        )
        for training, (marker, _) in MARKERS.items()
    ]
    handles.append(Line2D([], [], color="0.6", linewidth=0.8, linestyle=":", label="chance"))
    title = "reward model trained in; \u0394: English minus target language"
    figure.legend(handles=handles, title=title, loc="outside lower center", ncols=3)
    return figure


DRAWN = {
    "table1": draw_table1,
    "figure1": lambda table: draw_figure1(table, CONFIDENCE),
    "printed": lambda table: draw_printed_leads(plotted_leads(table), CONFIDENCE),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path, help="table1.csv, figure1.csv or printed.csv")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    options = parser.parse_args()
    with paper_style():
        DRAWN[options.table.stem](read_csv(options.table)).savefig(options.picture, dpi=150)
