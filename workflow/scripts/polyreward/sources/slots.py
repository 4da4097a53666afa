"""Typed slot values as each language writes them in prose (CLDR data, from Babel).

CLDR's standard forms suit tables and price tags. Forms that differ in prose are below, by language.
"""

import datetime
from collections.abc import Callable

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal, format_percent, get_currency_name
from babel.units import format_unit

from polyreward.core.errors import PolyrewardError

UNGROUPED = ("es", "zh")  # four digits without a separator: 1000, but 25.000
NAMED_MONEY = ("ko", "zh")  # a sum is written with the currency's name
NAMED_BUT_EURO = ("es", "fr", "it")  # only the euro has a sign there: 25 €, but 25 dólares
PLAIN_MONEY = {  # where CLDR's name has a country that prose leaves out
    ("ko", "USD"): "달러",
    ("ko", "GBP"): "파운드",
    ("es", "USD"): "dólares",
    ("es", "GBP"): "libras",
    ("fr", "USD"): "dollars",
    ("fr", "GBP"): "livres",
    ("it", "USD"): "dollari",
    ("it", "GBP"): "sterline",
}
# Hours, and minutes where there are any
CLOCK = {"ko": ("aaaa h시", " m분"), "zh": ("h点", "m分"), "it": ("H:mm", ""), "fr": ("H 'h'", " mm")}
# {language: the part of the day before the hour, with the hour at which it ends}. CLDR's Chinese parts are
# for forecasts, and its 24-hour clock for timetables.
PART_OF_DAY = {"zh": ((5, "凌晨"), (9, "早上"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))}
FIRST_OF_MONTH = {"it": "1°", "fr": "1er"}  # where it has an ordinal, which Babel's patterns leave out
BELOW_ZERO = {"ko": "영하 {}도", "zh": "零下{}度"}  # degrees Celsius


def _number(value, locale: Locale) -> str:
    return format_decimal(
        value, locale=locale, group_separator=abs(value) >= 10_000 or locale.language not in UNGROUPED
    )


def _amount(value, locale: Locale) -> str:
    number, currency = value
    name = PLAIN_MONEY.get((locale.language, currency)) or _currency(currency, locale)
    if locale.language in NAMED_MONEY:
        return f"{_number(number, locale)}{name}"
    if locale.language in NAMED_BUT_EURO and currency != "EUR":
        if float(number).is_integer():
            return f"{_number(number, locale)} {name}"
        return f"{format_decimal(number, format='#,##0.00', locale=locale)} {name}"
    if not float(number).is_integer():
        return format_currency(number, currency, locale=locale)
    pattern = locale.currency_formats["standard"].pattern.replace("0.00", "0")
    grouped = abs(number) >= 10_000 or locale.language not in UNGROUPED
    return format_currency(
        number, currency, format=pattern, locale=locale, currency_digits=False, group_separator=grouped
    )


def _currency(value, locale: Locale) -> str:
    if value not in locale.currencies:
        raise KeyError(value)
    return get_currency_name(value, count=2, locale=locale)


def _measure(value, locale: Locale) -> str:
    number, unit = value
    if "-" not in unit:  # CLDR's ids name the quantity too: length-kilometer
        raise KeyError(unit)
    if number < 0 and unit == "temperature-celsius" and locale.language in BELOW_ZERO:
        return BELOW_ZERO[locale.language].format(_number(-number, locale))
    # Where CLDR aliases the long form to a shorter one, Babel has only that.
    for length in ("long", "short", "narrow"):
        text = format_unit(number, unit, length=length, locale=locale)
        if unit not in text:  # Babel falls back on the id of an unknown unit
            return text.replace(format_decimal(number, locale=locale), _number(number, locale))
    raise KeyError(unit)


def _time(value, locale: Locale) -> str:
    if locale.language in CLOCK:
        time = datetime.time.fromisoformat(value)
        hours, minutes = CLOCK[locale.language]
        part = next((name for until, name in PART_OF_DAY.get(locale.language, ()) if time.hour < until), "")
        return part + format_time(time, hours + (minutes if time.minute else ""), locale=locale)
    # The day period in full: Korean's is not AM, PM.
    pattern = locale.time_formats["short"].pattern.replace("a", "aaaa")
    return format_time(datetime.time.fromisoformat(value), pattern, locale=locale)


def _date(value, locale: Locale) -> str:
    date = datetime.date.fromisoformat(value)
    text = format_date(date, "long", locale=locale)
    if date.day == 1 and locale.language in FIRST_OF_MONTH:
        return FIRST_OF_MONTH[locale.language] + text[1:]
    return text


FORMATS: dict[str, Callable] = {
    "country": lambda value, locale: locale.territories[value],
    "language": lambda value, locale: locale.languages[value],
    "month": lambda value, locale: locale.months["format"]["wide"][value],
    "weekday": lambda value, locale: locale.days["format"]["wide"][value],
    "number": _number,
    "percent": lambda value, locale: format_percent(value, locale=locale),
    "amount": _amount,
    "currency": _currency,
    "measure": _measure,
    "date": _date,
    "time": _time,
    "literal": lambda value, locale: str(value),
}


def localized(slot_type: str, value, language: str) -> str:
    """Return a slot's value as `language` (ISO 639-1) writes it, with plain spaces for no-break ones.

    Raises:
        PolyrewardError: CLDR does not know the value.
    """
    errors = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, UnknownLocaleError)
    try:
        text = FORMATS[slot_type](value, Locale.parse(language))
    except errors as error:
        raise PolyrewardError(
            f"{slot_type} `{value}` is not known in `{language}`; correct the slot's value (quote dates and"
            " times)"
        ) from error
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def filled(text: str, slots: dict[str, list], language: str) -> str:
    """Fill `{slot}` placeholders; slots: {name: [type, value]}."""
    return text.format(**{name: localized(kind, value, language) for name, (kind, value) in slots.items()})
