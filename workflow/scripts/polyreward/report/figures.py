"""Figures embedded in the page, with few colours to keep it small."""

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from polyreward.core.errors import PolyrewardError

COLOURS = 256  # of a picture in the page: a third of the bytes of its file, and nothing that the eye misses


@dataclass(frozen=True)
class Figure:
    """A figure to show.

    Attributes:
        source: the picture as a data URI.
        width, height: in pixels.
        alt: description in words.
    """

    source: str
    width: int
    height: int
    alt: str


def read_figure(path: Path, alt: str) -> Figure:
    """Read a PNG file as a figure; raise PolyrewardError where it is none."""
    try:
        with Image.open(path, formats=["PNG"]) as file:
            whole = file.convert("RGBA")
    except (UnidentifiedImageError, OSError) as error:
        raise PolyrewardError(f"{path}: not a whole PNG file; remove it and make it again") from error
    picture = Image.alpha_composite(Image.new("RGBA", whole.size, "white"), whole).convert("RGB")
    stream = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, "PNG", compress_level=9)
    content = base64.b64encode(stream.getvalue()).decode("ascii")
    return Figure(f"data:image/png;base64,{content}", *picture.size, alt)
