"""The topics that are for place quartets only: their shape, their words, and facts that packages give again."""

import datetime
import re
from collections import Counter
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import holidays
import jsonschema
import pytest
from babel import Locale
from babel.numbers import get_territory_currencies
from support import ROOT

from polyreward.carb.items.filters import any_alike
from polyreward.core.yaml_files import read_yaml

FOLDER = ROOT / "resources/carb/topics_culture"
FILES = sorted(FOLDER.glob("*.yaml"))
TOPICS = [topic for file in FILES for topic in read_yaml(file)]
BY_ID = {topic["id"]: topic for topic in TOPICS}
CULTURES = read_yaml(ROOT / "resources/carb/cultures.yaml")["cultures"]
LANGUAGES = list(CULTURES)
TERRITORIES = {name: culture["territory"] for name, culture in CULTURES.items()}
FOUR = 4  # places of a quartet
LENGTHS = 1.4  # the longest text of a topic in a language, at most, as a multiple of its shortest
UNSPACED = ("zh", "ja", "th")  # languages that write words without spaces between them
CAPITALS = {
    "ar": "Africa/Cairo", "zh": "Asia/Shanghai", "en": "America/New_York", "de": "Europe/Berlin", "ja": "Asia/Tokyo",
    "ko": "Asia/Seoul", "ru": "Europe/Moscow", "es": "Europe/Madrid", "th": "Asia/Bangkok", "vi": "Asia/Ho_Chi_Minh",
}  # fmt: skip

of_every_topic = pytest.mark.parametrize("topic", TOPICS, ids=BY_ID)


def of_cultures(topic: str) -> dict[str, str]:
    """Return {culture: the id of its value} of a topic."""
    return {culture: value["id"] for value in BY_ID[topic]["values"] for culture in value["cultures"]}


def text_of(topic: str, culture: str, language: str = "en") -> str:
    return next(value["text"][language] for value in BY_ID[topic]["values"] if culture in value["cultures"])


def giving_away(language: str) -> list[str]:
    """Return names of the ten places, their languages and their money in a language, endings cut off."""
    locale, found = Locale.parse(language), [culture["places"][language] for culture in CULTURES.values()]
    for name, territory in TERRITORIES.items():
        today = datetime.date(2025, 1, 1)
        money = get_territory_currencies(territory, today, today)
        found += [
            locale.territories[territory],
            locale.languages[name],
            *(locale.currencies[code] for code in money),
        ]
    long = 6  # letters of a name that may have an ending
    cut = [
        name[:-2] if len(name) >= long and language in ("en", "de", "ru", "es") else name for name in found
    ]
    return sorted({name.casefold() for name in cut})


GIVING_AWAY = {language: giving_away(language) for language in LANGUAGES}


def test_the_files_have_a_domain_of_their_own_so_that_no_item_of_carb_comes_from_them():
    assert len(TOPICS) >= 40
    assert len(BY_ID) == len(TOPICS)
    assert {file.stem.split("_")[0] for file in FILES} == {"culture"}
    others = [
        topic["id"] for file in (ROOT / "resources/carb/topics").glob("*.yaml") for topic in read_yaml(file)
    ]
    assert not BY_ID.keys() & set(others)
    schema = read_yaml(ROOT / "workflow/schemas/carb_topics.schema.yaml")
    jsonschema.validate(TOPICS, schema)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_says_who_wrote_its_texts_and_that_no_native_speaker_read_them(file):
    head = file.read_text(encoding="utf-8").split("- id:")[0]
    assert "A language model wrote" in head and "a second time" in head and "No native speaker" in head


@of_every_topic
def test_every_culture_has_one_value_with_its_source_and_four_differ(topic):
    holders = Counter(culture for value in topic["values"] for culture in value["cultures"])
    assert set(holders) == set(CULTURES) and set(holders.values()) == {1}
    assert len(topic["values"]) >= FOUR
    for value in topic["values"]:
        assert re.match(r"(PyPI|npm) [\w.-]+ v?[\d.]+, ", value["check"]), value["check"]


@of_every_topic
def test_every_language_has_the_question_with_its_place_once_and_answers_that_differ(topic):
    assert list(topic["prompt"]) == LANGUAGES
    for language, prompt in topic["prompt"].items():
        assert prompt.count("{place}") == 1 and prompt.count("{") == 1, language
    for value in topic["values"]:
        assert list(value["text"]) == LANGUAGES
        assert not any("{" in text for text in value["text"].values())
    for language in LANGUAGES:
        texts = [value["text"][language] for value in topic["values"]]
        assert not any_alike(texts), language
        lengths = [len(text) for text in texts]
        assert max(lengths) <= LENGTHS * min(lengths), (language, texts)
        assert len({text[-1] for text in texts}) == 1 or language == "th", (language, texts)


@of_every_topic
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_answer_names_a_place_a_people_a_language_or_money(topic, language):
    for value in topic["values"]:
        text = value["text"][language].casefold()
        for name in GIVING_AWAY[language]:
            start, end = (
                ("", "") if language in UNSPACED else (r"\b(?:ال|وال|بال)?", r"\b" if len(name) < 6 else "")
            )
            assert not re.search(start + re.escape(name) + end, text), (value["id"], name)


def test_the_words_that_give_a_place_away_would_be_found():
    for language, text in {
        "en": "chinese", "de": "japanisch", "ru": "египетский", "es": "alemania", "ja": "韓国", "vi": "tiếng việt",
    }.items():  # fmt: skip
        assert any(text.startswith(name) for name in GIVING_AWAY[language]), language


def test_formats_and_codes_are_of_that_kind_and_nothing_else_is():
    files = ("culture_formats.yaml", "culture_codes.yaml")
    formats = {topic["id"] for file in files for topic in read_yaml(FOLDER / file)}
    assert {topic["id"] for topic in TOPICS if topic.get("kind") == "format"} == formats


@pytest.mark.parametrize("language", LANGUAGES)
def test_christmas_easter_and_the_lunar_new_year_are_as_holidays_has_them(language):
    days = holidays.country_holidays(TERRITORIES[language], years=2025, language="en_US")
    christmas = [f"{date:%m-%d}" for date in days if "Christmas" in days[date]]
    expected = {
        "december-25": ["12-25"],
        "december-25-and-26": ["12-25", "12-26"],
        "january-7": ["01-07"],
        "none": [],
    }
    assert christmas == expected[of_cultures("christmas")[language]]
    around = [date.day for date in days if datetime.date(2025, 4, 17) <= date <= datetime.date(2025, 4, 22)]
    expected = {"friday-and-monday": [18, 21], "friday": [18], "monday": [21], "none": []}
    assert sorted(around) == expected[of_cultures("easter")[language]]
    lunar = [date for date in days if re.search("(Chinese|Korean|Lunar) New Year", days[date])]
    fewest = {"none": 0, "three": 3, "four": 4, "five-or-more": 5}[of_cultures("lunar-new-year")[language]]
    assert len(lunar) == fewest or fewest == 5 <= len(lunar)
    low, high = of_cultures("public-holiday-count")[language].split("-to-")
    assert int(low) <= len(days) <= int(high)


@pytest.mark.parametrize("language", LANGUAGES)
def test_money_plurals_and_the_hour_of_night_are_as_cldr_has_them(language):
    today = datetime.date(2025, 1, 1)
    [money] = get_territory_currencies(TERRITORIES[language], today, today, include_details=True)
    low, high = map(int, of_cultures("currency-since")[language].split("-to-"))
    assert low <= money["from"].year <= high
    locale = Locale.parse(language)
    forms = {locale.plural_form(number) for number in range(1, 201)}
    assert {1: "one", 2: "two", 3: "three", 5: "five"}[len(forms)] == of_cultures("noun-forms-after-numbers")[
        language
    ]
    [night] = locale.day_period_rules[None]["night1"]
    assert text_of("night-begins", language) == f"That begins at {night['from'] // 3600:02d}:00."


@pytest.mark.parametrize("language", LANGUAGES)
def test_clocks_are_as_tzdata_has_them(language):
    try:
        zone = ZoneInfo(CAPITALS[language])
    except ZoneInfoNotFoundError:
        pytest.skip("no time zone data on this system")
    noon = datetime.datetime(2025, 1, 15, 12, tzinfo=datetime.UTC)
    hours = [(noon + datetime.timedelta(days=day)).astimezone(zone) for day in range(-14, 350)]
    assert of_cultures("noon-at-greenwich")[language] == f"{noon.astimezone(zone):%H-%M}"
    changes = [
        f"{later:%B}".lower()
        for one, later in zip(hours, hours[1:], strict=False)
        if one.utcoffset() != later.utcoffset()
    ]
    assert of_cultures("clock-change")[language] == ("-and-".join(changes) or "never")


@pytest.mark.parametrize("language", LANGUAGES)
def test_phone_numbers_are_as_phonenumbers_has_them(language):
    phonenumbers = pytest.importorskip("phonenumbers")
    found = phonenumbers.PhoneMetadata.metadata_for_region(TERRITORIES[language])
    assert of_cultures("calling-code")[language] == str(found.country_code)
    trunk = 0 if language in ("en", "zh") else len(found.national_prefix or "")  # there mobiles need none
    digits = [length + trunk for length in found.mobile.possible_length]
    assert str(max(digits)) in of_cultures("mobile-digits")[language].split("-or-")
