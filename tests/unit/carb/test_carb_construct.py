"""From topics to possible items: the chosen answer is the culture's own, and nothing that it shares is
wrong."""

from carb_data import CULTURES, NAMES, fact_topic, reference, texts, topic
from support import script

possible_items = script("prepare/carb_possible_items").possible_items
reference_rows = script("sources/carb_references").reference_rows


def items_of(*topics, asked=NAMES):
    rows = list(reference_rows(topics, CULTURES, asked))
    return {item["id"]: item for item in possible_items(rows, CULTURES)}


def test_each_culture_is_asked_in_its_own_language_about_its_own_place():
    prompts = {item["culture"]: item["prompt"] for item in items_of(topic()).values()}
    assert prompts == {"en": "in US en?", "de": "in DE de?", "ru": "в RU ru?", "ja": "JPでは ja?"}


def test_an_item_has_its_own_answer_and_every_other_culture_s():
    item = items_of(topic())["greeting_de"]
    assert item["chosen"] == {"value": "v1", "check": "Book 1", "text": "Handschlag"}
    assert item["answers"] == [
        {"value": "v0", "check": "Book 0", "text": "Verbeugung", "cultures": ["en"]},
        {"value": "v2", "check": "Book 2", "text": "zwei Küsse", "cultures": ["ru"]},
        {"value": "v3", "check": "Book 3", "text": "Nicken", "cultures": ["ja"]},
    ]
    assert (item["domain"], item["source"], item["topic"], item["is_fact"]) == (
        "values",
        "etiquette",
        "greeting",
        False,
    )


def test_a_value_that_cultures_share_is_wrong_for_none_of_them():
    values = [
        {"id": f"v{n}", "cultures": of, "check": "c", "text": texts(n)}
        for n, of in enumerate([["en", "ja"], ["de", "ru"]])
    ]
    items = items_of(topic(values=values))
    assert items["greeting_en"]["shared"] == ["ja"]
    assert [(answer["value"], answer["cultures"]) for answer in items["greeting_en"]["answers"]] == [
        ("v1", ["de", "ru"])
    ]


def test_the_answer_stands_in_the_language_s_unlabelled_frame():
    cultures = {**CULTURES, "languages": {**CULTURES["languages"], "de": {"unlabelled": "So: {answer}."}}}
    rows = list(reference_rows([topic()], cultures, NAMES))
    by_id = {item["id"]: item for item in possible_items(rows, cultures)}
    assert by_id["greeting_de"]["chosen"]["text"] == "So: Handschlag."
    assert by_id["greeting_de"]["answers"][0]["text"] == "So: Verbeugung."
    assert by_id["greeting_en"]["chosen"]["text"] == "a bow"


def test_cultures_that_are_not_asked_give_no_answer():
    item = items_of(topic(), asked=["en", "de", "ru"])["greeting_en"]
    assert [answer["cultures"] for answer in item["answers"]] == [["de"], ["ru"]]


def test_a_fact_s_value_is_its_key_and_two_cultures_that_share_it_are_no_mismatch():
    items = items_of(fact_topic("short_date"))
    assert items["short-date_de"]["chosen"]["value"] == "31.12.2025"
    assert items["short-date_de"]["shared"] == ["ru"]
    assert [answer["text"] for answer in items["short-date_de"]["answers"]] == [
        "= 12/31/2025",
        "= 2025/12/31",
    ]
    assert items["short-date_de"]["is_fact"]


def test_a_holiday_is_named_in_the_prompt_and_dated_in_the_asked_language():
    item = items_of(fact_topic("holiday_date"))["holiday-date-1_ja"]
    assert item["prompt"] == "JPでは 海の日?"
    assert item["chosen"]["text"] == "= 7月21日"
    assert [answer["text"] for answer in item["answers"]] == ["= 5月26日", "= 4月21日", "= 5月9日"]
    assert "holidays 0.109" in item["chosen"]["check"]


def test_an_ambiguous_fact_is_no_item_and_no_answer_but_a_row():
    rows = list(reference_rows([fact_topic("holiday_date", id="holiday-2")], CULTURES, NAMES))
    assert [row["value"] for row in rows] == [None] * 4
    assert list(possible_items(rows, CULTURES)) == []
    some = [reference("en", "x"), reference("de", None), reference("ru", "y")]
    assert [item["id"] for item in possible_items(some, CULTURES)] == ["t_en", "t_ru"]
    assert [answer["cultures"] for item in possible_items(some, CULTURES) for answer in item["answers"]] == [
        ["ru"],
        ["en"],
    ]
