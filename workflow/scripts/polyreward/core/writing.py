"""Writing systems: which one a text is in, by its letters."""

import unicodedata
from collections import Counter

# ISO 15924 code of a writing system: how the Unicode names of its letters begin. Narrow ones first: see
# main_script.
LETTERS = {
    "Latn": ("LATIN",),
    "Cyrl": ("CYRILLIC",),
    "Arab": ("ARABIC",),
    "Thai": ("THAI",),
    "Grek": ("GREEK",),
    "Hebr": ("HEBREW",),
    "Deva": ("DEVANAGARI",),
    "Beng": ("BENGALI",),
    "Taml": ("TAMIL",),
    "Telu": ("TELUGU",),
    "Ethi": ("ETHIOPIC",),
    "Khmr": ("KHMER",),
    "Hans": ("CJK", "IDEOGRAPHIC"),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK", "IDEOGRAPHIC"),
    "Kore": ("HANGUL", "CJK"),
}


def script_share(text: str, script: str) -> float:
    """Return the share of a text's letters that belong to a writing system; nan for a text without letters.

    script: an ISO 15924 code in LETTERS. Full-width and compatibility forms count as what they stand for."""
    letters = _letters(text)
    return (
        sum(count for name, count in letters.items() if name.startswith(LETTERS[script])) / letters.total()
        if letters
        else float("nan")
    )


def main_script(text: str) -> str:
    """Return the writing system that most of a text's letters belong to, of equal ones the narrowest."""
    letters = _letters(text)
    counts = {
        script: sum(n for name, n in letters.items() if name.startswith(begin))
        for script, begin in LETTERS.items()
    }
    return max(counts, key=counts.__getitem__)


def _letters(text: str) -> Counter[str]:
    text = unicodedata.normalize("NFKC", text)
    return Counter(unicodedata.name(char, "") for char in text if unicodedata.category(char).startswith("L"))
