"""Find which writing system a text uses, by its letters."""

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
    """Return the share of a text's letters in a script (a key of LETTERS); nan for a text without letters.

    Full-width and compatibility forms count as the letters that they represent."""
    letters = _letters(text)
    return (
        sum(count for name, count in letters.items() if name.startswith(LETTERS[script])) / letters.total()
        if letters
        else float("nan")
    )


def main_script(text: str) -> str:
    """Return the script of most of a text's letters; of equal ones, the narrowest."""
    letters = _letters(text)
    counts = {
        script: sum(n for name, n in letters.items() if name.startswith(begin))
        for script, begin in LETTERS.items()
    }
    return max(counts, key=counts.__getitem__)


def _letters(text: str) -> Counter[str]:
    text = unicodedata.normalize("NFKC", text)
    return Counter(unicodedata.name(char, "") for char in text if unicodedata.category(char).startswith("L"))
