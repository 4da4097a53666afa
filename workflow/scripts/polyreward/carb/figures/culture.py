"""The figure of place quartets: swaps by language and scorer, next to the base's own."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyreward.artifacts.figures import (
    BASE,
    GREY,
    TEXT_WIDTH,
    Look,
    language_look,
    language_name,
    paper_style,
    reach,
    span,
)
from polyreward.carb.culture.books import BOOK
from polyreward.carb.culture.statistics import CHANCE
from polyreward.core.kinds import REWARD_KINDS, is_baseline
from polyreward.core.naming import MODEL, ModelName, of_base
from polyreward.prepare.topics import FACT

LEAK_TESTS = {"length": "length", "shared": "shared characters"}
GAP = 0.6  # between groups, in rows


@paper_style()
def draw_culture(table: pd.DataFrame, confidence: str) -> Figure:
    """Draw the swaps of each scorer of facts, a panel for each language and a row for each model.

    table: comparison.CULTURE_COLUMNS. Trainings of one model share a row. Log-likelihood has none, since it
    has the swaps of PMI. A mark is hollow where the scorer does not read an open book. confidence: such as
    "95%"."""
    books = table[table["asks"] == BOOK]
    # Without an interval of books nothing is said of who reads them
    failed = books[books["low"] <= CHANCE["swaps"]]
    cannot_read = set(zip(failed["scorer"], failed["language"], strict=True))
    table = table[(table["asks"] == FACT) & table["swaps"].notna()]
    reads = [key not in cannot_read for key in zip(table["scorer"], table["language"], strict=True)]
    table = table.assign(row=table["scorer"].map(_model), reads=reads)[~_is_loglik(table)]
    languages, places = list(table["language"].unique()), _places(table)
    figure = Figure(figsize=(TEXT_WIDTH, 0.6 + 0.16 * (max(places.values()) + 1)), layout="constrained")
    axes = figure.subplots(1, len(languages), sharex=True, sharey=True, squeeze=False)[0]
    for axis, language in zip(axes, languages, strict=True):
        rows = table[table["language"] == language]
        axis.axvline(CHANCE["swaps"], color="0.4", linewidth=0.8, linestyle=":")
        _draw_bases(axis, rows, places)
        for name, of_model in rows.groupby("row", sort=False):
            _draw_model(axis, of_model, places[name])
        axis.set_title(f"in {language_name(language)}")
        axis.tick_params(axis="y", length=0)
    labels = {places[row["row"]]: _label(row) for row in table.to_dict("records")}
    axes[0].set_yticks(list(labels), list(labels.values()))
    axes[0].set_ylim(max(places.values()) + 0.6, -0.6)
    quartets, topics = (span(table[name].astype(int)) for name in ("quartets", "topics"))
    sizes = f"n = {quartets} quartets of {topics} topics"
    figure.supxlabel(f"swaps, % [{confidence}], {sizes}; the dotted line is chance", fontsize=7)
    return figure


def _is_loglik(table: pd.DataFrame) -> pd.Series:
    return table["scorer"] == [of_base("loglik", base) for base in table["base"].fillna("")]


def _model(scorer: str) -> str:
    """Return the name of a model's first training."""
    return str(ModelName(*MODEL.match(scorer).group("base", "language"))) if MODEL.match(scorer) else scorer


def _places(table: pd.DataFrame) -> dict[str, float]:
    """Return where each model's row is: bases apart from each other, leak tests last."""
    places, place, before = {}, 0.0, None
    for name, base in table[["row", "base"]].drop_duplicates("row").fillna("").itertuples(index=False):
        place += 0 if before is None else 1 if base == before else 1 + GAP
        places[name], before = place, base
    return places


def _draw_bases(axis: Axes, rows: pd.DataFrame, places: dict[str, float]) -> None:
    """Draw what an untrained base has as a line through the rows of its reward models."""
    for base, group in rows[rows["base"].fillna("") != ""].groupby("base"):
        own = group.loc[group["scorer"] == of_base("pmi", base), "swaps"]
        of_group = [places[name] for name in group["row"]]
        axis.vlines(own, min(of_group), max(of_group) + 0.4, color=GREY, linewidth=0.8)


def _draw_model(axis: Axes, trainings: pd.DataFrame, place: float) -> None:
    count = len(trainings)
    ys = [place + 0.5 * (number - (count - 1) / 2) / count for number in range(count)]
    look, bars = _look(trainings.iloc[0]), trainings["low"].notna().all()
    mark = {"fmt": look.marker, "color": look.colour, "markersize": 3.5, "linewidth": 0.9}
    # Leak tests cannot read at all, so that there is nothing to tell
    hollow = ~trainings["reads"] & (trainings["base"].fillna("") != "")
    for fill, own in (("full", ~hollow), ("none", hollow)):
        if own.any():
            xerr = reach(trainings[own], "swaps") if bars else None
            places = np.array(ys)[own.to_numpy()]
            axis.errorbar(trainings.loc[own, "swaps"], places, xerr=xerr, fillstyle=fill, **mark)


def _look(row: pd.Series) -> Look:
    if row["trained_in"]:
        return language_look(row["trained_in"])
    if is_baseline(row["kind"]):
        return BASE
    kind = REWARD_KINDS[row["kind"]]
    return Look(kind.colour, kind.marker, "-")


def _label(row: dict) -> str:
    if row["trained_in"]:
        return f"trained in {language_name(row['trained_in'])}"
    if row["scorer"] == of_base("pmi", row["base"] or ""):
        return f"{row['base']}, untrained"
    return LEAK_TESTS.get(row["scorer"], row["scorer"])
