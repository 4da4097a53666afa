"""What every translation must keep: code blocks, line breaks, numbers and placeholders."""

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
PLACEHOLDER = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
# One number: digits with single separators between them, so that 1,250.5 and 1.250,5 are the same number.
NUMBER = re.compile(r"\d(?:[.,'\u2019\u00a0\u202f]?\d)*")

CJK_DIGITS = dict(zip("〇零一二三四五六七八九两兩", "0012345678922", strict=True))
CJK_UNITS = {
    **dict.fromkeys("十십", 10),
    **dict.fromkeys("百백", 100),
    **dict.fromkeys("千천", 1000),
    **dict.fromkeys("万萬만", 10**4),
    **dict.fromkeys("亿億억", 10**8),
    **dict.fromkeys("兆조", 10**12),
}
MYRIAD = 10**4
# Digits with a unit after them somewhere, or only numerals. Korean has spaces between parts: 1만 5천.
CJK_NUMBER = re.compile(
    r"(?:[\d.,]+\s?[십백천만억조十百千万萬亿億兆]+\s?)+(?:\d[\d,]*)?|[〇零一二三四五六七八九十百千万萬亿億兆两兩]+"
)
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SCALED = re.compile(
    r"(?P<number>\d+(?:,\d{3})*(?:\.\d+)?) (?P<scale>thousand|million|billion|trillion)\b", re.IGNORECASE
)
CLOCK = re.compile(r"\b(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[aApP])\.?\s?[mM]\b")
HALF_HOUR = re.compile(r"[点點时時시]\s?[半반]")


def prose(text: str) -> str:
    """Return a text without its fenced code blocks and placeholders."""
    return PLACEHOLDER.sub(" ", FENCE.sub(" ", text))


def numbers(text: str) -> Counter:
    """Count a text's numbers outside code, as digits without separators."""
    return Counter(re.sub(r"\D", "", number) for number in NUMBER.findall(prose(text)))


def written_in_words(text: str) -> Counter:
    """Count the numbers in East Asian numerals, as digits: 1万 5천 is 15000, 十五 is 15."""
    said = (_value(match.group()) for match in CJK_NUMBER.finditer(prose(text)))
    return Counter(value for value in said if value)


def _value(numeral: str) -> str | None:
    """Return a numeral's value in digits, or None; a myriad (万, 億, ...) ends each group of four digits."""
    whole, group, digits = Fraction(0), Fraction(0), ""
    for sign in re.sub(r"[\s,]", "", numeral):
        if sign in CJK_UNITS:
            unit = CJK_UNITS[sign]
            if unit < MYRIAD:
                group, digits = group + (_digits(digits) or 1) * unit, ""
            else:
                whole, group, digits = whole + ((group + _digits(digits)) or 1) * unit, Fraction(0), ""
        else:
            digits += CJK_DIGITS.get(sign, sign)
    total = whole + group + _digits(digits)
    return str(int(total)) if total.denominator == 1 else None


def _digits(text: str) -> Fraction:
    return Fraction(text) if re.fullmatch(r"\d+(\.\d+)?", text) else Fraction(0)


def _scaled(source: str, target: str) -> Counter:
    """Count the numbers before "million" etc. whose product the target has in East Asian numerals."""
    said, found = written_in_words(target), Counter()
    for match in SCALED.finditer(prose(source)):
        value = Fraction(match["number"].replace(",", "")) * SCALES[match["scale"].lower()]
        if said[str(value)]:
            found[re.sub(r"\D", "", match["number"])] += 1
    return found


def _clock_hours(source: str, target: str) -> Counter:
    """Count the source's hours in AM or PM that the target gives on a 24-hour clock, and halves in words."""
    found: Counter = Counter()
    said = numbers(target) + written_in_words(target)
    for match in CLOCK.finditer(prose(source)):
        hour = int(match["hour"])
        of_day = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        if said[str(of_day)] or said[f"{of_day:02d}"]:
            found[match["hour"]] += 1
        if match["minute"] and (
            int(match["minute"]) == 0 or (match["minute"] == "30" and HALF_HOUR.search(target))
        ):
            found[match["minute"]] += 1
    return found


def broken_invariants(source: str, target: str) -> Iterator[str]:
    """Yield what a translation lost.

    A target may change words to digits, numbers to East Asian numerals (10,000 as 1万), and hours to
    a 24-hour clock, but never drop a number.
    """
    if FENCE.findall(source) != FENCE.findall(target):
        yield "a code block was changed"
    if source.count("\n") != target.count("\n"):
        yield f"{source.count(chr(10))} line breaks became {target.count(chr(10))}"
    outside = [FENCE.sub(" ", text) for text in (source, target)]
    lost, gained = (
        set(PLACEHOLDER.findall(a)) - set(PLACEHOLDER.findall(b)) for a, b in (outside, outside[::-1])
    )
    if lost:
        yield f"lost {', '.join(sorted(lost))}"
    if gained:
        yield f"has {', '.join(sorted(gained))}, which is not in the source"
    missing = numbers(source) - numbers(target)
    if missing:
        missing -= written_in_words(target) + _scaled(source, target) + _clock_hours(source, target)
    if missing:
        yield f"lost the number {', '.join(sorted(missing))}"
