"""Draw Table 1 as the README shows it, from a finished run:

python docs/images/draw.py results/table1.csv docs/images/table1.png
"""

import sys

import matplotlib.pyplot as plt
import pandas as pd
from babel import Locale

from polyreward.artifacts.figures import paper_style

KINDS = {"target": ("the target language", "#0072b2", "o", -0.14), "english": ("English", "#d55e00", "s", 0.14)}


def draw_table1(table: pd.DataFrame) -> plt.Figure:
    """Draw both reward models' averages with their intervals, a row for each language, and their difference beside them."""
    with paper_style():
        bases = list(table["base_model"].unique())
        languages = list(table["eval_language"].unique())
        figure, axes = plt.subplots(1, len(bases), figsize=(8.4, 2.4), sharex=True, sharey=True, layout="constrained")
        for axis, base in zip(axes, bases, strict=True):
            rows = table[table["base_model"] == base].set_index(["eval_language", "rm_training"])
            for training, (name, colour, marker, shift) in KINDS.items():
                found = rows.xs(training, level=1).loc[languages]
                places = [number + shift for number in range(len(languages))]
                reach = [found["avg"] - found["avg_low"], found["avg_high"] - found["avg"]]
                axis.errorbar(found["avg"], places, xerr=reach, fmt=marker, color=colour, label=name, capsize=2, markersize=5)
            for number, language in enumerate(languages):
                delta = rows.loc[(language, "delta")]
                found = delta[["avg", "avg_low", "avg_high"]].astype(float).round(1) + 0.0  # no -0.0
                text = "\u0394 {:+.1f} [{:+.1f}, {:+.1f}]".format(*found)
                text = text.replace("-", "\u2212")
                axis.text(1.0, number, text, transform=axis.get_yaxis_transform(), fontsize=7, va="center", ha="right")
            axis.axvline(50, color="0.6", linewidth=0.8, linestyle=":")
            axis.set_title(base)
            axis.set_xlabel("accuracy, average of four sections (%)")
        axes[0].set_yticks(range(len(languages)), [Locale.parse(code).get_language_name("en") for code in languages])
        axes[0].set_xlim(34, 104)
        axes[0].set_xticks([40, 50, 60, 70])
        axes[0].set_ylim(len(languages) - 0.5, -0.5)
        named = axes[0].get_legend_handles_labels()
        figure.legend(*named, title="reward model trained in", loc="outside right center", frameon=False)
        return figure


if __name__ == "__main__":
    source, target = sys.argv[1:]
    draw_table1(pd.read_csv(source)).savefig(target, dpi=150)
