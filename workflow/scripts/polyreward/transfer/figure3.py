"""Figure 3 of the transfer paper: a policy's win rates before and after DPO on pairs labelled by two reward
models."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polyreward.alignment.win_rates import POLICIES
from polyreward.artifacts.figures import (
    BASE,
    TEXT_WIDTH,
    Look,
    language_look,
    language_name,
    paper_style,
    reach,
    span,
)

COLUMNS = ["language", "policy", "quantity", "value_pct", "low", "high", "n_instructions", "runs"]
SOURCE = language_look("en")
MARKERS = {"base": BASE.marker, "target": "s", "english": "o"}
PLACES = {"base": -0.24, "target": 0.0, "english": 0.24}
EVEN = 50  # percent: as good as the reference
LEAST_REACH = 1  # points that the axis of differences shows to each side of 0


def figure3_table(rates: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Return what Figure 3 plots: win rates, length-controlled and per run, and differences between policies.

    rates: of win_rates.win_rates; judged: JUDGEMENT_COLUMNS in all languages."""
    key = ["language", "policy", "n_instructions", "runs"]
    whole = rates.rename(columns={"win_rate_pct": "value_pct"})[[*key, "value_pct", "low", "high"]].assign(
        quantity="win rate"
    )
    controlled = rates.rename(columns={"length_controlled_pct": "value_pct"})[[*key, "value_pct"]].assign(
        quantity="length-controlled"
    )
    by_run = 100 * judged.groupby(["language", "policy", "run"], sort=False)["win"].mean()
    by_run = by_run.rename("value_pct").reset_index().merge(rates[key], on=["language", "policy"])
    by_run["quantity"] = "run " + by_run["run"].astype(str)
    return pd.concat([whole, controlled, by_run]).reindex(columns=COLUMNS)


@paper_style()
def draw_figure3(table: pd.DataFrame, judge: pd.DataFrame, confidence: str) -> Figure:
    """Draw the policies' win rates per language, and the difference that the labels' source makes.

    A policy of the target reward model has its language's colour; one of the English model has English's.
    Below a language is the judge's accuracy on its known pairs, of win_rates.judge_accuracy."""
    figure = Figure(figsize=(TEXT_WIDTH, 2.6), layout="constrained")
    rates, difference = figure.subplots(1, 2, width_ratios=[2, 1])
    languages = list(table["language"].unique())
    for place, language in enumerate(languages):
        for policy in POLICIES:
            found = table[(table["language"] == language) & (table["policy"] == policy)]
            _draw_policy(rates, found, place + PLACES[policy], policy)
    rates.axhline(EVEN, color="black", linewidth=0.7, linestyle=":")
    right = judge[judge["kind"] == "all"].set_index("language")["accuracy_pct"]
    labels = [f"{language_name(language)}\njudge right: {right[language]:.0f}%" for language in languages]
    _languages(rates, labels)
    rates.set_ylabel(f"win rate against the reference\nanswer, % [{confidence}]")
    rates.margins(y=0.1)
    instructions, runs = (span(table[name]) for name in ("n_instructions", "runs"))
    rates.set_title(f"n = {instructions} instructions, runs: {runs}")
    _differences(difference, table, languages, confidence)
    figure.legend(
        handles=_handles(), loc="outside lower center", ncols=5, handletextpad=0.4, columnspacing=1.4
    )
    return figure


def _draw_policy(axis: Axes, found: pd.DataFrame, place: float, policy: str) -> None:
    own = {"base": BASE, "target": language_look(found["language"].iloc[0]), "english": SOURCE}[policy]
    look = own._replace(marker=MARKERS[policy])
    runs = found[found["quantity"].str.startswith("run ")]
    _draw_rate(axis, found, place, look)
    axis.plot([place + 0.07] * len(runs), runs["value_pct"], ".", color="0.35", markersize=2.5)
    _draw_controlled(axis, found, place - 0.07, look)


def _draw_rate(axis: Axes, found: pd.DataFrame, place: float, look: Look) -> None:
    whole = found[found["quantity"] == "win rate"]
    axis.errorbar(
        place,
        whole["value_pct"],
        yerr=reach(whole, "value_pct"),
        fmt=look.marker,
        color=look.colour,
        markersize=5,
        linewidth=1.2,
        capsize=2.5,
    )


def _draw_controlled(axis: Axes, found: pd.DataFrame, place: float, look: Look) -> None:
    rate = found.loc[found["quantity"] == "length-controlled", "value_pct"]
    axis.plot(place, rate, "D", color="white", markeredgecolor=look.colour, markersize=3)


def _handles() -> list[Line2D]:
    def handle(label: str, marker: str, size: float, color: str = "0.5", **face) -> Line2D:
        return Line2D([], [], linestyle="", label=label, marker=marker, markersize=size, color=color, **face)

    return [
        handle("before DPO", MARKERS["base"], 5, BASE.colour),
        handle("DPO, target RM (its language's colour)", MARKERS["target"], 5),
        handle("DPO, English RM", MARKERS["english"], 5, SOURCE.colour),
        handle("at the reference's length", "D", 3.5, markerfacecolor="white"),
        handle("one run", ".", 4),
    ]


def _differences(axis: Axes, table: pd.DataFrame, languages: list[str], confidence: str) -> None:
    for place, language in enumerate(languages):
        found = table[(table["policy"] == "english - target") & (table["language"] == language)]
        look = language_look(language)._replace(marker=MARKERS["target"])  # as in the other half
        _draw_rate(axis, found, place, look)
        _draw_controlled(axis, found, place - 0.16, look)
    axis.axhline(0, color="black", linewidth=0.7, linestyle=":")
    _languages(axis, [language_name(language) for language in languages])
    axis.margins(y=0.1)
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, -LEAST_REACH), max(high, LEAST_REACH))
    axis.set_ylabel(f"English minus target RM,\npoints [{confidence}]")
    axis.set_title("effect of the labels' source")


def _languages(axis: Axes, labels: list[str]) -> None:
    axis.set_xticks(range(len(labels)), labels)
    axis.set_xlim(-0.5, len(labels) - 0.5)
    axis.tick_params(axis="x", length=0)
