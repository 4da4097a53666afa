"""When does a reply say an accepted answer? As whole words, in every script, anywhere in the reply."""

import re
import unicodedata

ARABIC_MARKS = {
    chr(code) for code in (0x640, *range(0x64B, 0x653))
}  # the stretching stroke, and short vowels
ARABIC_ALIKE = str.maketrans("أإآىة", "ااايه")  # letters that people write for one another
# Scripts that write words without spaces between them, and one whose particles follow a word without a space
UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
PARTICLES_FOLLOW = UNSPACED + r"\uac00-\ud7af"
STARTS, ENDS = (
    rf"(?<![^\W{UNSPACED}])",
    rf"(?![^\W{PARTICLES_FOLLOW}])",
)  # of a word in any other script, also among these
# Arabic writes "and", "in", "to" and the article before a word without a space
ARABIC_BEFORE = "[وف]?(?:لل|[بكل]?(?:ال)?)"
ARTICLE = re.compile("^ال(?=\\w{3})")


def plain(text: str) -> str:
    """Return a text without case, punctuation, spaces and Arabic vowel marks, to compare short answers by."""
    return words(text).replace(" ", "")


def words(text: str) -> str:
    """Return a text without case, punctuation and Arabic vowel marks, with one space between words."""
    text = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c not in ARABIC_MARKS)
    text = "".join(" " if unicodedata.category(c)[0] in "PSZC" else c for c in text.translate(ARABIC_ALIKE))
    return " ".join(text.split())


def says(reply: str, accepted: str) -> bool:
    """Return whether a reply, of a word or of sentences, has an accepted answer in it, as whole words.

    Where words stand without spaces (Thai, Han, kana) that is anywhere, since no rule finds their borders: a
    single letter is therefore no accepted answer (questions.py). In Korean it is at the start of a word, as
    particles follow it; in Arabic, "and", "in", "to" and the article may stand before it. A reply that denies
    the answer, or says several, counts too."""
    sought = words(accepted)
    arabic = re.match("[\u0621-\u064a]{3}", sought)
    if arabic:
        sought = ARTICLE.sub("", sought)
    before = "" if re.match(f"[{UNSPACED}]", sought) else STARTS + (ARABIC_BEFORE if arabic else "")
    after = "" if re.search(f"[{PARTICLES_FOLLOW}]$", sought) else ENDS
    return bool(sought) and bool(
        re.search(before + re.escape(sought).replace(r"\ ", " ") + after, words(reply))
    )


def matches(reply: str, accepted: list[str]) -> bool:
    """Return whether a reply is one of the accepted answers, or says one."""
    return any(plain(reply) == plain(text) or says(reply, text) for text in accepted)
