"""Noto Sans, from the Python Package Index, for scripts that matplotlib's own font lacks.

Matplotlib shapes text and orders right-to-left lines; it needs only a font with the glyphs.
"""

import contextlib
import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from matplotlib.font_manager import findfont, fontManager

from polyreward.core.errors import PolyrewardError, raise_all

OWN = "DejaVu Sans"  # comes with matplotlib
# language: package, its file, and whether the font is so large that only the glyphs of the text are kept
FONTS = {
    "ar": ("justmytype-intl-rtl", "notosansarabic/NotoSansArabic[wdth,wght].ttf", False),
    "ja": ("justmytype-intl-cjk", "notosansjp/NotoSansJP[wght].ttf", True),
    "ko": ("justmytype-intl-cjk", "notosanskr/NotoSansKR[wght].ttf", True),
    "th": ("justmytype-intl-sea", "notosansthai/NotoSansThai[wdth,wght].ttf", False),
    "zh": ("justmytype-intl-cjk", "notosanssc/NotoSansSC[wght].ttf", True),
}
REGULAR = {"wght": 400, "wdth": 100}


@contextlib.contextmanager
def fonts_for(texts: dict[str, str]) -> Iterator[dict[str, list[str]]]:
    """Make fonts for texts, {language: all text in it}; yield each language's font families. Draw and save
    inside.

    Raises PolyrewardError that names packages of fonts that are missing, and characters without a font."""
    wanted = {language: FONTS[language] for language in texts if language in FONTS}
    missing = sorted({package for package, *_ in wanted.values() if _folder(package) is None})
    raise_all(
        (f"the package {name} with its fonts is not installed; `pip install {name}`" for name in missing),
        "fonts",
    )
    before, own = list(fontManager.ttflist), Path(matplotlib.get_data_path(), "fonts/ttf")
    with tempfile.TemporaryDirectory() as folder:
        try:
            # A PDF holds fonts in the order of their paths, so matplotlib's own are copied next to the others
            fontManager.ttflist = [entry for entry in before if entry.name != OWN]
            for path in sorted(own.glob("DejaVuSans[-.]*")):
                fontManager.addfont(shutil.copy(path, folder))
            families = {}
            for language, text in texts.items():
                families[language] = [OWN]
                if language in wanted:
                    (package, file, is_large), path = wanted[language], Path(folder, f"{language}.ttf")
                    _regular(_folder(package) / file, text if is_large else None).save(path)
                    fontManager.addfont(path)
                    families[language] = [fontManager.ttflist[-1].name, OWN]
                _check(text, language, families[language])
            yield families
        finally:
            fontManager.addfont(own / "DejaVuSans.ttf")  # which forgets where fonts were found
            fontManager.ttflist = before


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package.replace("-", "_"))
    return spec and Path(spec.submodule_search_locations[0], "fonts/ofl")


def _regular(path: Path, text: str | None) -> TTFont:
    """Return a variable font's regular weight; text: keep only its glyphs."""
    font = TTFont(path, recalcTimestamp=False)
    if text is not None:
        options = Options()
        options.layout_features = ["*"]
        subsetter = Subsetter(options)
        subsetter.populate(text=text)
        subsetter.subset(font)
    return instantiateVariableFont(font, {axis.axisTag: REGULAR[axis.axisTag] for axis in font["fvar"].axes})


def _check(text: str, language: str, families: list[str]) -> None:
    known = set().union(
        *(TTFont(findfont(family, fallback_to_default=False)).getBestCmap() for family in families)
    )
    missing = sorted(
        {character for character in text if ord(character) not in known and not character.isspace()}
    )
    if missing:
        raise PolyrewardError(
            f"no glyph in {', '.join(families)} for {' '.join(f'{c} (U+{ord(c):04X})' for c in missing[:10])}"
            f" ({language}); add a font that has it to polyreward/artifacts/fonts.py"
        )
