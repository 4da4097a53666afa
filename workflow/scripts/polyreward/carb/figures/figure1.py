"""Figure 1 of the CARB paper: the benchmark at a glance."""

import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pandas as pd
from babel import Locale
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from polyreward.artifacts.figures import TEXT_WIDTH, at_least, language_name, paper_style

ANSWER = ["candidate", "is_chosen", "text", "from_culture"]
COLUMNS = ["panel", "item", "culture", "domain", *ANSWER, "scorer", "score", "n_items"]
LINE_CHARACTERS = 50  # of a text, an East Asian one counting two
LINES = 4  # of a text; the rest of a longer one is left out
GUTTER = 0.19  # where texts begin, right of whose answer each is; a share of the panel
LEAST_SPAN = 0.02  # of the scores on an axis: smaller differences look small
NAME_CHARACTERS = 13  # of a line of a reward model's name
RIGHT_TO_LEFT = {"R", "AL"}
STAY = "\u0e30\u0e32\u0e33\u0e45\u3063\u30fc"  # Thai vowels and kana that begin no line
KEEP = "\u0e40\u0e41\u0e42\u0e43\u0e44"  # Thai vowels that end no line
# Markers of the domains, distinct without colour
FILLS = (("#1b3a5c", ""), ("#6f9bc8", "////"), ("#c9d9ea", ""), ("#ffffff", "...."))


def own_names(cultures: Sequence[str]) -> dict[str, str]:
    """Return each culture's language by its own name."""
    return {culture: Locale.parse(culture).get_display_name(culture) for culture in cultures}


def texts_by_culture(table: pd.DataFrame, names: dict[str, str]) -> dict[str, str]:
    """Return all that the figure writes in each culture's language."""
    texts = table.dropna(subset="text").groupby("culture")["text"].agg("".join)
    return {culture: name + texts.get(culture, "") for culture, name in names.items()}


@paper_style()
def draw_figure1(table: pd.DataFrame, names: dict[str, str], families: dict[str, list[str]]) -> Figure:
    """Draw the item next to its scores, each reward model on a scale of its own, and below it the counts.

    families: {culture: font families for its texts}."""
    scores, counts = table[table["panel"] == "score"], table[table["panel"] == "count"]
    prompt = table[table["panel"] == "prompt"].iloc[0]
    figure = Figure(figsize=(TEXT_WIDTH, 4.8), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.9, 1])
    models = list(scores["scorer"].unique())
    axes = upper.subplots(1, 1 + len(models), sharey=True, width_ratios=[4.2, *[1] * len(models)])
    _draw_item(axes[0], prompt, scores.drop_duplicates("candidate"), families[prompt["culture"]])
    for axis, model in zip(axes[1:], models, strict=True):
        _draw_scores(axis, scores[scores["scorer"] == model], model)
    _draw_counts(lower.subplots(), counts, names, families)
    return figure


def _draw_item(axis: Axes, prompt: pd.Series, answers: pd.DataFrame, families: Sequence[str]) -> None:
    axis.set_title(f"{prompt['item']} ({prompt['domain']})", loc="left", parse_math=False)
    axis.set_ylim(len(answers) - 0.5, -1.5)
    axis.set_xlim(0, 1)
    axis.axis("off")
    _write(axis, -1, prompt["text"], families)
    axis.text(0.02, -1, "prompt", va="center")
    for number, answer in enumerate(answers.itertuples()):
        _write(axis, number, answer.text, families)
        # A wrong answer may be of no culture, or of the item's own: another saying, for example.
        elsewhere = pd.notna(answer.from_culture) and answer.from_culture != prompt["culture"]
        culture = prompt["culture"] if answer.is_chosen else answer.from_culture
        whose = f"right for\n{language_name(culture)}" if answer.is_chosen or elsewhere else "wrong"
        weight = "bold" if answer.is_chosen else "normal"
        axis.text(0.02, number, whose, va="center", fontsize=7, fontweight=weight)
        if answer.is_chosen:
            ends, look = [number - 0.42, number + 0.42], {"color": "black", "linewidth": 2.5}
            axis.plot([0, 0], ends, **look, solid_capstyle="butt", clip_on=False)


def _write(axis: Axes, height: float, text: str, families: Sequence[str]) -> None:
    from_right = any(unicodedata.bidirectional(character) in RIGHT_TO_LEFT for character in text)
    place, side = (1.0, "right") if from_right else (GUTTER, "left")
    shown = first_lines(wrapped(" ".join(text.split()), LINE_CHARACTERS), LINES)
    sides = {"ha": side, "va": "center", "multialignment": side}
    look = {"family": families, "fontsize": 7, "linespacing": 0.95, "parse_math": False}
    axis.text(place, height, shown, **sides, **look)


def _draw_scores(axis: Axes, scores: pd.DataFrame, model: str) -> None:
    parts = re.sub("([-_])", r"\1\n", model).split("\n")
    axis.set_title(filled(parts, NAME_CHARACTERS), fontsize=7, parse_math=False)
    places = np.arange(len(scores))
    axis.hlines(places, scores["score"].min(), scores["score"], color="0.75", linewidth=1)
    look = {"s": 22, "edgecolor": "black", "linewidth": 0.8, "zorder": 3}
    for chosen, marker, fill in ((False, "o", "white"), (True, "D", "black")):
        rows = (scores["is_chosen"] == chosen).to_numpy()
        axis.scatter(scores["score"][rows], places[rows], marker=marker, facecolor=fill, **look)
    axis.margins(x=0.2)
    limits = axis.get_xlim()
    axis.set_xlim(at_least(limits, LEAST_SPAN))
    axis.spines["left"].set_visible(False)
    axis.tick_params(left=False, labelleft=False, labelsize=7)
    ends = sorted({float(scores["score"].min()), float(scores["score"].max())})
    ends = [sum(ends) / len(ends)] if axis.get_xlim() != limits else ends
    digits = max(0, 1 - math.floor(math.log10(ends[-1] - ends[0]))) if len(ends) > 1 else 2
    axis.set_xticks(ends, [f"{end:.{digits}f}".replace("-", "\N{MINUS SIGN}") for end in ends])
    axis.set_xlabel("score", fontsize=7)


def _draw_counts(
    axis: Axes, counts: pd.DataFrame, names: dict[str, str], families: dict[str, list[str]]
) -> None:
    domains = counts["domain"].unique()
    wide = counts.pivot(index="culture", columns="domain", values="n_items").astype(int)
    wide = wide.loc[counts["culture"].unique(), domains]
    bottom = 0
    for domain, (colour, pattern) in zip(domains, cycle(FILLS), strict=False):
        look = {"color": colour, "hatch": pattern, "edgecolor": "black", "linewidth": 0.5}
        axis.bar(range(len(wide)), wide[domain], bottom=bottom, **look, label=domain)
        bottom = bottom + wide[domain].to_numpy()
    axis.set_xticks(range(len(wide)), wide.index)
    for place, culture in enumerate(wide.index):
        below = ((place, 0), (0, -22), ("data", "axes fraction"), "offset points")
        axis.annotate(names[culture], *below, family=families[culture], ha="center", va="baseline")
    axis.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axis.set_ylabel(f"items (n = {int(wide.to_numpy().sum())})")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)


def first_lines(text: str, count: int) -> str:
    """Return the first lines of a text, the last one with an ellipsis where more follow."""
    lines = text.split("\n")
    if len(lines) > count:
        lines[count - 1 :] = [f"{lines[count - 1].rstrip('.,;: ')} \u2026"]
    return "\n".join(lines)


def wrapped(text: str, width: int) -> str:
    """Break a text into lines of at most `width`, at spaces, or between characters where these are too few.

    An East Asian character counts two. A mark stays with its letter, and no line begins with punctuation."""
    units = []
    for word in text.split(" "):
        units += [f"{word} "] if _columns(word) <= width else _clusters(f"{word} ")
    return filled(units, width)


def filled(units: Sequence[str], width: int) -> str:
    """Put unbreakable units, each with the space that follows it, together to lines of at most `width`."""
    lines = [""]
    for unit in units:
        if lines[-1] and _columns((lines[-1] + unit).rstrip()) > width:
            lines.append("")
        lines[-1] += unit
    return "\n".join(line.rstrip() for line in lines)


def _clusters(text: str) -> list[str]:
    clusters = [""]
    for character in text:
        stays = unicodedata.category(character)[0] in "MP" or character in STAY
        if clusters[-1] and not stays and clusters[-1][-1] not in KEEP:
            clusters.append("")
        clusters[-1] += character
    return clusters


def _columns(text: str) -> int:
    letters = [c for c in text if not unicodedata.combining(c)]
    return len(letters) + sum(unicodedata.east_asian_width(c) in "WF" for c in letters)
