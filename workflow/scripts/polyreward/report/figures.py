"""Figures as the page holds them: inside it, so that it needs no other file."""

import base64
import struct
from dataclasses import dataclass
from pathlib import Path

from polyreward.core.errors import PolyrewardError

SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Figure:
    """A figure to show. source: the whole picture as a data URI; width, height: in pixels; alt: what it is, in words."""

    source: str
    width: int
    height: int
    alt: str


def read_figure(path: Path, alt: str) -> Figure:
    """Return a PNG file as a figure; raises PolyrewardError where it is not one."""
    content = path.read_bytes()
    if content[:8] != SIGNATURE or len(content) < 24:
        raise PolyrewardError(f"{path}: not a PNG file; remove it and make it again")
    width, height = struct.unpack(">II", content[16:24])
    return Figure(f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}", width, height, alt)
