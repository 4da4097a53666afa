"""Figure 3 of the transfer paper: win rates of a policy before and after DPO on pairs that two reward models labelled."""

import pandas as pd
import seaborn
from babel import Locale
from matplotlib.figure import Figure

from polyreward.alignment.win_rates import POLICIES
from polyreward.artifacts.figures import TEXT_WIDTH, paper_style

COLUMNS = ["language", "policy", "quantity", "value_pct", "low", "high", "n_instructions", "runs"]
NAMES = {"base": "before DPO", "target": "DPO, target RM", "english": "DPO, English RM"}
HATCHES = {"base": "", "target": "///", "english": "..."}


def figure3_table(rates: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Return what Figure 3 plots: win rates, length-controlled ones, each run's, and differences of policies.

    rates: win_rates.win_rates' rows; judged: judging.judgements' rows of all languages."""
    key = ["language", "policy", "n_instructions", "runs"]
    whole = rates.rename(columns={"win_rate_pct": "value_pct"})[[*key, "value_pct", "low", "high"]].assign(quantity="win rate")
    controlled = rates.rename(columns={"length_controlled_pct": "value_pct"})[[*key, "value_pct"]].assign(
        quantity="length-controlled"
    )
    by_run = 100 * judged.groupby(["language", "policy", "run"], sort=False)["win"].mean()
    by_run = by_run.rename("value_pct").reset_index().merge(rates[key], on=["language", "policy"])
    by_run["quantity"] = "run " + by_run["run"].astype(str)
    return pd.concat([whole, controlled, by_run]).reindex(columns=COLUMNS)


@paper_style()
def draw_figure3(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw win rates of the policies per language, and beside them the difference that the labels' source makes.

    table: figure3_table's rows. confidence: the intervals' level, as text ("95%")."""
    figure = Figure(figsize=(TEXT_WIDTH, 2.7), layout="constrained")
    rates, difference = figure.subplots(1, 2, width_ratios=[2, 1])
    languages = list(table["language"].unique())
    colours = dict(zip(POLICIES, seaborn.color_palette("colorblind", len(POLICIES)), strict=True))
    for number, policy in enumerate(POLICIES):
        places = {language: place + 0.27 * (number - 1) for place, language in enumerate(languages)}
        of_policy = table[table["policy"] == policy].assign(place=lambda rows, places=places: rows["language"].map(places))
        whole, controlled = (of_policy[of_policy["quantity"] == name] for name in ("win rate", "length-controlled"))
        rates.bar(whole["place"], whole["value_pct"], 0.25, yerr=_reach(whole), color=colours[policy], hatch=HATCHES[policy],
                  edgecolor="white", linewidth=0, capsize=2, error_kw={"linewidth": 0.8}, label=NAMES[policy])  # fmt: skip
        runs, last = of_policy[of_policy["quantity"].str.startswith("run ")], number == len(POLICIES) - 1
        rates.plot(runs["place"] + 0.07, runs["value_pct"], ".", color="black", markersize=2.5, label="one run" if last else None)
        diamonds = {"color": "white", "markeredgecolor": "black", "markersize": 3.5, "markeredgewidth": 0.7}
        label = "length-controlled" if last else None
        rates.plot(controlled["place"] - 0.07, controlled["value_pct"], "D", label=label, **diamonds)
    rates.set_xticks(range(len(languages)), [_name(language) for language in languages])
    rates.set_ylabel(f"win rate against the reference\nanswer, % [{confidence}]")
    rates.set_ylim(0)
    rates.set_title(f"n = {table['n_instructions'].iloc[0]} instructions, {table['runs'].iloc[0]} runs")
    _differences(difference, table, languages, confidence)
    figure.legend(*rates.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def _differences(axis, table: pd.DataFrame, languages: list[str], confidence: str) -> None:
    found = table[table["policy"] == "english - target"]
    for shift, name, marker in ((-0.12, "win rate", "o"), (0.12, "length-controlled", "D")):
        rows = found[found["quantity"] == name].set_index("language").loc[languages]
        places = [place + shift for place in range(len(languages))]
        reach = _reach(rows) if name == "win rate" else None
        fill = "black" if name == "win rate" else "white"
        axis.errorbar(places, rows["value_pct"], yerr=reach, fmt=marker, color="black", markerfacecolor=fill, markersize=3.5,
                      linewidth=0.8, capsize=2)  # fmt: skip
    axis.axhline(0, color="black", linewidth=0.6, linestyle=":")
    axis.set_xticks(range(len(languages)), [_name(language) for language in languages])
    axis.set_xlim(-0.5, len(languages) - 0.5)
    axis.set_ylabel(f"English minus target RM,\npoints [{confidence}]")


def _reach(rows: pd.DataFrame) -> list:
    return [rows["value_pct"] - rows["low"], rows["high"] - rows["value_pct"]]


def _name(language: str) -> str:
    return Locale.parse(language).get_language_name("en")
