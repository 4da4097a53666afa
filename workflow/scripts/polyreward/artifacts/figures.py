"""The common style of figures, a fixed look for each language and kind, and reproducible files.

Colours are Okabe and Ito's, for colour-blind readers. Each comes with a marker and dashes, to be read in
grey."""

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from babel import Locale
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from polyreward.core.files import whole_file

COLUMN_WIDTH, TEXT_WIDTH = 3.3, 6.9  # inches: of one and of both columns of a paper
SMALLEST = 7  # points, of any text
STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": SMALLEST,
    "axes.titlesize": 7.5,
    "axes.labelsize": SMALLEST,
    "xtick.labelsize": SMALLEST,
    "ytick.labelsize": SMALLEST,
    "legend.fontsize": SMALLEST,
    "figure.titlesize": 7.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "figure.dpi": 200,
}
# Okabe and Ito, Color Universal Design, 2008
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#8C8C8C"


class Look(NamedTuple):
    """Colour, marker and dash pattern of one thing in every figure."""

    colour: str
    marker: str
    dashes: str | tuple


SOLID, DASHED, DASH_DOT = "-", (0, (5, 1.5)), (0, (5, 1.2, 1, 1.2))
LONG, SHORT, DOTTED = (0, (8, 2)), (0, (3, 1)), (0, (1, 1.1))
# The source language is black; warm colours are languages in Latin letters, cool ones in other scripts, in
# each dark and light.
LANGUAGES = {
    "en": Look(BLACK, "o", SOLID),
    "es": Look(VERMILLION, "^", LONG),
    "it": Look(ORANGE, "v", DASH_DOT),
    "ko": Look(BLUE, "s", DASHED),
    "zh": Look(SKY, "D", SHORT),
    "fr": Look(PURPLE, "<", LONG),
    "de": Look(PURPLE, ">", SHORT),
    "vi": Look(VERMILLION, "p", SHORT),
    "ar": Look(GREEN, "X", DASHED),
    "ja": Look(GREEN, "h", SHORT),
    "ru": Look(BLUE, "*", DASH_DOT),
    "th": Look(SKY, "d", LONG),
}
BASE = Look(GREY, "P", SOLID)  # a model before any training of ours
# What has no look of its own, by its place: models, runs, policies
OTHERS = (
    Look(BLUE, "o", SOLID),
    Look(ORANGE, "s", DASHED),
    Look(BLACK, "^", SHORT),
    Look(SKY, "D", LONG),
    Look(VERMILLION, "v", DASH_DOT),
    Look(GREEN, "P", DASHED),
    Look(PURPLE, "X", SHORT),
    Look(GREY, "<", SOLID),
)


def language_look(language: str) -> Look:
    """Return a language's look."""
    if language in LANGUAGES:
        return LANGUAGES[language]
    number = zlib.crc32(language.encode())  # not listed: by its code, so that adding it needs no line here
    colour = (VERMILLION, PURPLE, GREEN, BLUE)[number % 4]
    dashes = (DASHED, DASH_DOT, LONG, SHORT)[number // 4 % 4]
    return Look(colour, "1234"[number // 16 % 4], dashes)


def looks_by_place(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for each name by position; from the ninth on they repeat."""
    return {name: OTHERS[place % len(OTHERS)] for place, name in enumerate(names)}


def language_name(language: str) -> str:
    """Return a language's English name."""
    return Locale.parse(language).get_language_name("en")


@contextlib.contextmanager
def paper_style() -> Iterator[None]:
    """Apply the style of all figures: small type, fonts embedded in PDF, 200 dots per inch in PNG.

    It replaces the user's `matplotlibrc`, so that figures are the same on every machine."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def span(values: pd.Series) -> str:
    """Return the range of integers in words, such as n in several rows: 40, or 12 to 40."""
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def reach(rows: pd.DataFrame, value: str, low: str = "low", high: str = "high") -> np.ndarray:
    """Return the distances from estimates to interval ends (2, rows), as for errorbar; NaN where unknown."""
    return np.stack([rows[value] - rows[low], rows[high] - rows[value]]).clip(min=0)


def at_least(limits: tuple[float, float], least: float) -> tuple[float, float]:
    """Return an axis's limits, widened around their middle to a least span, so that rounding looks small."""
    missing = max(least - (limits[1] - limits[0]), 0) / 2
    return limits[0] - missing, limits[1] + missing


def plain_log(axis: Axis) -> None:
    """Label a logarithmic axis plainly (0.01, 0.1, 1), below three decades at 1, 2 and 5 of each."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(10, (1.0,) if high / low > 1000 else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


@paper_style()
def save_figure(figure: Figure, png_path: str | Path, pdf_path: str | Path) -> None:
    """Write a figure as PNG and PDF, whole or not at all, without a date: the same figure gives the same
    bytes."""
    for path, metadata in ((png_path, {"Software": None}), (pdf_path, {"CreationDate": None})):
        with whole_file(path) as temporary:
            figure.savefig(temporary, metadata=metadata)
