"""Facts about cultures that are data: public holidays out of `holidays`, formats out of CLDR by Babel."""

import dataclasses
import datetime
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import holidays
from babel import Locale, dates, numbers

YEAR = 2025
# CLDR's delimiters, which Babel leaves out. In Egypt more than one pair is usual, so it has none here.
QUOTATION_MARKS = {
    **dict.fromkeys(("zh", "en", "ko", "th", "vi"), "\u201c \u201d"),
    **dict.fromkeys(("ru", "es"), "\u00ab \u00bb"),
    "de": "\u201e \u201c",
    "ja": "\u300c \u300d",
}
# Where more than one way to separate a date's figures is usual, whatever CLDR prefers
SEVERAL_SEPARATORS = {"ko", "es"}


@dataclasses.dataclass(frozen=True)
class Culture:
    """Whose facts: language (ISO 639-1) and territory (ISO 3166) are its CLDR locale.

    holidays: those that are asked about, as the package `holidays` names them in that language."""

    language: str
    territory: str
    holidays: tuple[str, ...] = ()

    @property
    def locale(self) -> Locale:
        """Its CLDR locale."""
        return Locale.parse(f"{self.language}_{self.territory}")


class Fact(NamedTuple):
    """What is true of all cultures with the same key; text: its value, in the asked language."""

    key: str
    text: str


@cache
def holiday_dates(language: str, territory: str) -> dict[str, list[datetime.date]]:
    """Return {name in that language: its dates} of a territory's public holidays in YEAR."""
    known = holidays.country_holidays(territory).supported_languages
    own = (name for name in known if name.split("_")[0] == language)
    named_as = min(own, key=lambda name: territory not in name)  # such as zh_CN
    found = defaultdict(list)
    listed = holidays.country_holidays(territory, years=YEAR, observed=False, language=named_as)
    for date, names in sorted(listed.items()):
        for name in names.split("; "):
            found[name].append(date)
    return dict(found)


def holiday_date(culture: Culture, language: str, number: int) -> Fact | None:
    """Return day and month of a holiday, counted from 1; None where it has several days or is not listed."""
    if number > len(culture.holidays):
        return None
    days = holiday_dates(culture.language, culture.territory)[culture.holidays[number - 1]]
    if len(days) > 1:
        return None
    return Fact(f"{days[0]:%m-%d}", dates.format_skeleton("MMMMd", days[0], locale=language))


def currency_sign(culture: Culture, *_) -> Fact | None:
    """Return the sign of the culture's currency; None where it has several, or letters for a sign.

    A currency's name would give the culture away, since most languages name the country in it."""
    codes = numbers.get_territory_currencies(culture.territory)
    sign = numbers.get_currency_symbol(codes[0], locale=culture.locale)
    sign = sign.replace("\uffe5", "\u00a5")  # the wide yen sign is the same sign
    return Fact(sign, sign) if len(codes) == 1 and not any(map(str.isalpha, sign)) else None


def short_date(culture: Culture, *_) -> Fact | None:
    """Return YEAR's last day in figures as the culture writes it; None where separators or years vary.

    The year is written in full, since how many of its figures are usual differs within a culture."""
    formats = culture.locale.date_formats
    if culture.language in SEVERAL_SEPARATORS or "G" in formats["long"].pattern:
        return None  # CLDR names the era (G) where another calendar is the usual one
    pattern = formats["short"].pattern
    for letters, wanted in (("d+", "dd"), ("M+", "MM"), ("y+", "y")):
        pattern = re.sub(letters, wanted, pattern)
    text = dates.format_date(datetime.date(YEAR, 12, 31), pattern, locale="en")
    text = text.replace("\u200f", "")  # a mark of direction
    return Fact(text, text)


def quotation_marks(culture: Culture, *_) -> Fact | None:
    """Return the culture's opening and closing quotation marks; None where more than one pair is usual."""
    marks = QUOTATION_MARKS.get(culture.language)
    return Fact(marks, marks) if marks else None


# {name: a function of a culture, the asked language and, for a holiday, its number}
FACTS: dict[str, Callable[..., Fact | None]] = {
    fact.__name__: fact for fact in (holiday_date, currency_sign, short_date, quotation_marks)
}


def where_to_check(name: str) -> str:
    """Say where a reader can check a fact."""
    if name == "holiday_date":
        return f"Python package holidays {version('holidays')}, public holidays of {YEAR}"
    return f"Unicode CLDR, as in the Python package Babel {version('babel')}"
