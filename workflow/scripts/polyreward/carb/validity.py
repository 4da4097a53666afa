"""How good an answer to a question is: whether it says an accepted one, and how near it is to one."""

import re
import unicodedata
from collections.abc import Sequence

from sacrebleu.metrics import CHRF

ARABIC_MARKS = {chr(code) for code in (0x640, *range(0x64B, 0x653))}  # the stretching stroke, and short vowels


def plain(text: str) -> str:
    """Return a text without case, punctuation, spaces and Arabic vowel marks, to compare short answers by."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in text if unicodedata.category(c)[0] not in "PSZC" and c not in ARABIC_MARKS)


# Scripts that write words without spaces between them, and one whose particles follow a word without a space
UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
PARTICLES_FOLLOW = UNSPACED + r"\uac00-\ud7af"


def says(answer: str, accepted: str) -> bool:
    """Return whether an answer, of a word or of sentences, has an accepted one in it, as whole words.

    Where words stand without spaces (Thai, Han, kana) that is anywhere, in Korean at the start of a word."""
    words = "".join(re.escape(c) if c != " " else r"\s+" for c in _words(accepted))
    before = "" if re.match(f"[{UNSPACED}]", accepted) else r"(?<!\w)"
    after = "" if re.search(f"[{PARTICLES_FOLLOW}]$", accepted) else r"(?!\w)"
    return bool(words) and bool(re.search(before + words + after, _words(answer)))


def _words(text: str) -> str:
    """Return a text as `plain` does, but with a space between words."""
    text = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c not in ARABIC_MARKS)
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PSZC" else c for c in text).split())


def answer_ratings(answer: str, accepted: Sequence[str]) -> dict[str, float]:
    """Rate an answer from 0 to 100. match: whether it says an accepted one; chrf: against the nearest of these."""
    return {
        "match": 100.0 * any(plain(answer) == plain(text) or says(answer, text) for text in accepted),
        "chrf": max(CHRF().sentence_score(answer, [text]).score for text in accepted),
    }
