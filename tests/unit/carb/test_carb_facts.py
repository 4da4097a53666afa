"""Facts about cultures out of `holidays` and CLDR: known values, shared ones, and those that are
ambiguous."""

import pytest

from polyreward.carb.items import facts
from polyreward.carb.items.facts import FACTS, currency_sign, holiday_date

TERRITORIES = {
    "ar": "EG", "zh": "CN", "en": "US", "de": "DE", "ja": "JP", "ko": "KR", "ru": "RU", "es": "ES", "th": "TH", "vi": "VN",
}  # fmt: skip


def culture(language, *holidays):
    return facts.Culture(language, TERRITORIES[language], holidays)


def of_all(fact) -> dict:
    return {language: FACTS[fact](culture(language), "en") for language in TERRITORIES}


@pytest.mark.parametrize(
    ("language", "holiday", "date"),
    [
        ("en", "Independence Day", "07-04"),
        ("de", "Tag der Deutschen Einheit", "10-03"),
        ("zh", "清明节", "04-04"),
        ("ja", "文化の日", "11-03"),
        ("ko", "부처님오신날", "05-05"),  # the same day as 어린이날, of which the package makes one entry
        ("ar", "عيد شم النسيم", "04-21"),
    ],
)
def test_a_holiday_of_one_day_has_a_date(language, holiday, date):
    assert holiday_date(culture(language, holiday), "en", 1).key == date


def test_a_date_is_told_in_the_asked_language():
    american = culture("en", "Independence Day")
    assert {language: holiday_date(american, language, 1).text for language in TERRITORIES} == {
        "ar": "4 يوليو", "zh": "7月4日", "en": "July 4", "de": "4. Juli", "ja": "7月4日", "ko": "7월 4일", "ru": "4 июля",
        "es": "4 de julio", "th": "4 กรกฎาคม", "vi": "4 tháng 7",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("language", "holidays", "number"),
    [("zh", ["劳动节"], 1), ("vi", ["Quốc khánh"], 1), ("th", ["วันสงกรานต์"], 1), ("de", ["Karfreitag"], 2)],
)
def test_a_holiday_of_several_days_is_ambiguous_and_one_that_is_not_listed_no_fact(
    language, holidays, number
):
    assert holiday_date(culture(language, *holidays), "en", number) is None
    assert (
        holiday_date(culture("de", "Karfreitag", "Ostermontag"), "de", 2).key == "04-21"
    )  # counted from one


def test_two_cultures_share_a_sign_whatever_its_width_and_one_of_letters_is_none():
    assert currency_sign(culture("de"), "en") == currency_sign(culture("es"), "en") == ("€", "€")
    assert currency_sign(culture("zh"), "en") == currency_sign(culture("ja"), "en") == ("¥", "¥")
    assert currency_sign(culture("ar"), "en") is None
    assert currency_sign(culture("vi"), "en").text == "₫"


def test_short_dates_are_in_the_culture_s_order_and_ambiguous_where_calendar_or_separator_varies():
    assert {language: fact and fact.text for language, fact in of_all("short_date").items()} == {
        "ar": "31/12/2025", "zh": "2025/12/31", "en": "12/31/2025", "de": "31.12.2025", "ja": "2025/12/31", "ko": None,
        "ru": "31.12.2025", "es": None, "th": None, "vi": "31/12/2025",
    }  # fmt: skip


def test_quotation_marks_are_of_four_kinds_and_ambiguous_where_two_are_usual():
    found = of_all("quotation_marks")
    assert len({fact for fact in found.values() if fact}) == 4
    assert [language for language, fact in found.items() if fact is None] == ["ar"]


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_says_where_it_can_be_checked_and_has_enough_values_for_three_wrong_answers(fact):
    assert facts.where_to_check(fact).split(",")[0] in ("Unicode CLDR", "Python package holidays 0.109")
    assert fact == "holiday_date" or len({found.key for found in of_all(fact).values() if found}) >= 4
