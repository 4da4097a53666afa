"""Figure 3 of the CARB paper: the best reward models by domain."""

import pandas as pd
from matplotlib.figure import Figure

from polyreward.artifacts.figures import TEXT_WIDTH, paper_style, reach
from polyreward.core.kinds import REWARD_KINDS

DOMAIN_COLUMNS = ["kind", "place", "scorer", "domain", "score_pct", "low", "high", "n_items"]
MARKERS = ("o", "s", "^")  # of a reward model's place in its kind
BEST_KINDS, BEST = [name for name, kind in REWARD_KINDS.items() if kind.shades], len(MARKERS)


@paper_style()
def draw_figure3(table: pd.DataFrame, chance: float, confidence: str) -> Figure:
    """Draw each reward model's score on each domain; chance: in percent; confidence: such as "95%"."""
    figure = Figure(figsize=(TEXT_WIDTH, 3), layout="constrained")
    axis = figure.subplots()
    domains = list(table["domain"].unique())
    shown = list(table[["kind", "place", "scorer"]].drop_duplicates().itertuples(index=False))
    for number, (kind, place, scorer) in enumerate(shown):
        rows = table[table["scorer"] == scorer].set_index("domain").loc[domains]
        places = [domain + 0.12 * (number - (len(shown) - 1) / 2) for domain in range(len(domains))]
        colour = REWARD_KINDS[kind].shades[place - 1]
        mark = {"fmt": MARKERS[place - 1], "markersize": 5}
        mark |= {"markeredgecolor": "black", "markeredgewidth": 0.4}
        mark["markerfacecolor"] = colour if REWARD_KINDS[kind].filled else "white"
        line = {"color": colour, "linewidth": 1, "capsize": 1.5, "label": f"{scorer} ({kind})"}
        axis.errorbar(places, rows["score_pct"], yerr=reach(rows, "score_pct"), **mark, **line)
    axis.axhline(chance, color="0.4", linewidth=0.8, linestyle=":", label="chance")
    sizes = table.drop_duplicates("domain").set_index("domain")["n_items"]
    axis.set_xticks(range(len(domains)), [f"{domain}\nn={sizes[domain]}" for domain in domains])
    axis.set_ylabel(f"CARB score, % [{confidence}]")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
