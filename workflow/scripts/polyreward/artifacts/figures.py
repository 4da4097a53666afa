"""What all figures share: one style, one palette, and files that are the same from run to run."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib
import seaborn
from matplotlib.figure import Figure

from polyreward.core.files import whole_file

TEXT_WIDTH = 6.9  # inches
STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 7, "axes.titlesize": 7.5, "axes.labelsize": 7.5, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.formatter.useoffset": False,
    "pdf.fonttype": 42, "savefig.dpi": 200, "figure.dpi": 200,
}  # fmt: skip


@contextlib.contextmanager
def paper_style() -> Iterator[None]:
    """Draw and save in the look of all figures: small type, fonts embedded in PDF, 200 dots an inch in PNG."""
    with matplotlib.rc_context(STYLE):
        yield


def language_colours(languages: Sequence[str]) -> dict[str, tuple]:
    """Return a colour for each language that colour-blind readers tell apart, in the order given."""
    return dict(zip(languages, seaborn.color_palette("colorblind", len(languages)), strict=True))


@paper_style()
def save_figure(figure: Figure, png_path: str | Path, pdf_path: str | Path) -> None:
    """Write a figure as PNG and as PDF, whole or not at all, without a date: the same figure gives the same bytes."""
    for path, metadata in ((png_path, {"Software": None}), (pdf_path, {"CreationDate": None})):
        with whole_file(path) as temporary:
            figure.savefig(temporary, metadata=metadata)
