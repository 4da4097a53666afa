"""Rate a reply: whether it says an accepted answer, chooses the right option, or is near a reference."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from sacrebleu.metrics import CHRF

LETTERS = "ABCD"
NOTHING = "\u2026"  # replaces an answer without a word, which no reward model could read
ARABIC = {
    **dict.fromkeys((0x640, *range(0x64B, 0x653))),  # without the stretching stroke and short vowels
    **str.maketrans("أإآىة", "ااايه"),  # letters that people write for one another
}
# Scripts that write words without spaces between them, and one whose particles follow a word without a space
UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
PARTICLES_FOLLOW = UNSPACED + r"\uac00-\ud7af"
# Where a word in any other script starts and ends, also among these
STARTS, ENDS = rf"(?<![^\W{UNSPACED}])", rf"(?![^\W{PARTICLES_FOLLOW}])"
# Arabic writes "and", "in", "to" and the article before a word without a space
ARABIC_BEFORE = "[وف]?(?:لل|[بكل]?(?:ال)?)"
ARTICLE = re.compile("^ال(?=\\w{3})")
# A letter that names an option: at the start ("B", "(B)", "**B**"), or marked further on ("is (B)", "is B.")
FIRST = re.compile(rf"^[\W_]*([{LETTERS}])(?=[\W_]|$)")
MARKED = re.compile(rf"(?<![^\W_])(?:[(\[（*_]+([{LETTERS}])[)\]）*_]+|([{LETTERS}])(?=[.)）:：]|\s*$))")


def question_ratings(question: Mapping, answer: str) -> dict[str, float]:
    """Rate an answer from 0 to 100 by what its question has: accepted answers, options, or a reference.

    match: whether it says an accepted one, or chooses the right option; nan where there is only a reference.
    chrf: nearness to the nearest accepted one, to the right option's text, or to the reference."""
    if "accepted" in question:
        near, match = question["accepted"], 100.0 * matches(answer, question["accepted"])
    elif "options" in question:
        options, right = question["options"], question["right"]
        near, match = [options[right]], 100.0 * (chosen_option(answer, options) == right)
    else:
        near, match = [question["reference"]], float("nan")
    return {"match": match, "chrf": max(CHRF().sentence_score(answer, [text]).score for text in near)}


def matches(reply: str, accepted: Sequence[str]) -> bool:
    """Return whether a reply is one of the accepted answers, or says one."""
    return any(plain(reply) == plain(text) or says(reply, text) for text in accepted)


def says(reply: str, accepted: str) -> bool:
    """Return whether a reply has an accepted answer in it, as whole words.

    Thai, Han and kana have no spaces between words: anywhere. Particles may follow a Korean word; in Arabic,
    "and", "in", "to" and the article may precede it. A reply that denies the answer counts too."""
    sought = words(accepted)
    arabic = re.match("[\u0621-\u064a]{3}", sought)
    if arabic:
        sought = ARTICLE.sub("", sought)
    before = "" if re.match(f"[{UNSPACED}]", sought) else STARTS + (ARABIC_BEFORE if arabic else "")
    after = "" if re.search(f"[{PARTICLES_FOLLOW}]$", sought) else ENDS
    pattern = before + re.escape(sought).replace(r"\ ", " ") + after
    return bool(sought and re.search(pattern, words(reply)))


def plain(text: str) -> str:
    """Return a text without case, punctuation, spaces and Arabic vowel marks, to compare short answers by."""
    return words(text).replace(" ", "")


def words(text: str) -> str:
    """Return a text without case, punctuation and Arabic vowel marks, with one space between words."""
    text = unicodedata.normalize("NFKC", text).casefold().translate(ARABIC)
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PSZC" else c for c in text).split())


def chosen_option(reply: str, options: Sequence[str]) -> int | None:
    """Return the number of the option that a reply chooses, from 0; None where it names none, or several.

    A letter at its start counts first, unless it begins a sentence ("A common one"). Then the only letter
    that is marked as an option counts, and then the only option whose text the reply says."""
    reply = reply.strip()
    by_text = [number for number, option in enumerate(options) if matches(reply, [option])]
    first = FIRST.match(reply)
    if first:
        rest, number = reply[first.end() :], LETTERS.index(first[1])
        alone = not rest.strip() or rest[0] in "\n.)]）:：,、，。*_"
        if alone or by_text == [number]:
            return number
    marked = {letter for found in MARKED.findall(reply) for letter in found if letter}
    if len(marked) == 1:
        return LETTERS.index(marked.pop())
    return by_text[0] if len(by_text) == 1 and not marked else None
