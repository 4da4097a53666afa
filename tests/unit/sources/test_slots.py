"""Slot values as CLDR writes them."""

import pytest
from support import refused

from polyreward.sources.slots import FORMATS, filled, localized

LANGUAGES = ("en", "es", "it", "ko", "zh")
EXPECTED = [
    ("country", "DE", "Germany", "Alemania", "Germania", "독일", "德国"),
    ("language", "fr", "French", "francés", "francese", "프랑스어", "法语"),
    ("month", 3, "March", "marzo", "marzo", "3월", "三月"),
    ("weekday", 0, "Monday", "lunes", "lunedì", "월요일", "星期一"),
    ("number", 1234567.5, "1,234,567.5", "1.234.567,5", "1.234.567,5", "1,234,567.5", "1,234,567.5"),
    ("number", 1000, "1,000", "1000", "1.000", "1,000", "1000"),
    ("number", 25000, "25,000", "25.000", "25.000", "25,000", "25,000"),
    ("percent", 0.25, "25%", "25 %", "25%", "25%", "25%"),
    ("amount", [12.5, "USD"], "$12.50", "12,50 dólares", "12,50 dollari", "12.5달러", "12.5美元"),
    ("amount", [1200, "CAD"], "CA$1,200", "1200 dólares canadienses", "1.200 dollari canadesi", "1,200캐나다 달러", "1200加拿大元"),
    ("amount", [80, "EUR"], "€80", "80 €", "80 €", "80유로", "80欧元"),
    ("amount", [9000, "EUR"], "€9,000", "9000 €", "9.000 €", "9,000유로", "9000欧元"),
    ("currency", "USD", "US dollars", "dólares estadounidenses", "dollari statunitensi", "미국 달러", "美元"),
    ("measure", [-10, "temperature-celsius"], "-10 degrees Celsius", "-10 grados Celsius", "-10 gradi Celsius", "영하 10도", "零下10度"),
    ("measure", [1500, "length-meter"], "1,500 meters", "1500 metros", "1.500 metri", "1,500미터", "1500米"),
    ("measure", [5, "length-kilometer"], "5 kilometers", "5 kilómetros", "5 chilometri", "5킬로미터", "5公里"),
    ("measure", [1, "duration-hour"], "1 hour", "1 hora", "1 ora", "1시간", "1小时"),
    ("date", "2024-03-05", "March 5, 2024", "5 de marzo de 2024", "5 marzo 2024", "2024년 3월 5일", "2024年3月5日"),
    ("date", "2012-01-01", "January 1, 2012", "1 de enero de 2012", "1° gennaio 2012", "2012년 1월 1일", "2012年1月1日"),
    ("time", "21:00", "9:00 PM", "21:00", "21:00", "오후 9시", "晚上9点"),
    ("time", "15:30", "3:30 PM", "15:30", "15:30", "오후 3시 30분", "下午3点30分"),
    ("time", "05:30", "5:30 AM", "5:30", "5:30", "오전 5시 30분", "早上5点30分"),
    ("literal", "x-9", "x-9", "x-9", "x-9", "x-9", "x-9"),
]  # fmt: skip
CASES = [
    (kind, value, language, text)
    for kind, value, *texts in EXPECTED
    for language, text in zip(LANGUAGES, texts, strict=True)
]


@pytest.mark.parametrize(("kind", "value", "language", "text"), CASES)
def test_a_value_is_written_as_the_language_writes_it(kind, value, language, text):
    assert localized(kind, value, language) == text


def test_every_type_has_an_expectation():
    assert {kind for kind, *_ in EXPECTED} == set(FORMATS)


@pytest.mark.parametrize("language", [*LANGUAGES, "fr"])
@pytest.mark.parametrize("kind", ["number", "percent", "amount", "time"])
def test_no_break_spaces_become_plain_ones(kind, language):
    value = {"number": 1234567, "percent": 0.5, "amount": [1234567, "EUR"], "time": "15:30"}[kind]
    assert not {"\u00a0", "\u202f"} & set(localized(kind, value, language))


def test_a_noon_hour_is_in_the_afternoon():
    assert localized("time", "12:05", "en") == "12:05 PM"
    assert localized("time", "00:05", "ko") == "오전 12시 5분"


@pytest.mark.parametrize(
    ("kind", "value", "language"),
    [
        ("month", 13, "en"), ("country", "QQ", "es"), ("date", "2024-02-30", "zh"), ("amount", 5, "en"),
        ("measure", [5, "length-span"], "en"), ("percent", None, "en"), ("month", 3, "xx"), ("amount", [5, "XYZ"], "en"),
        ("currency", "XYZ", "en"),
    ],
)  # fmt: skip
def test_a_value_that_cldr_does_not_know_is_named_with_its_type_and_language(kind, value, language):
    text = refused(localized, kind, value, language)
    assert text.startswith(f"{kind} `{value}` is not known in `{language}`")


def test_slots_are_filled_by_name():
    slots = {"n": ["number", 1500.5], "place": ["country", "DE"], "unused": ["literal", "x"]}
    assert filled("{place}: {n}, {n} {{sic}}", slots, "es") == "Alemania: 1500,5, 1500,5 {sic}"
