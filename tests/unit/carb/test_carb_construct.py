"""From topics to possible items: the chosen answer is the culture's own, and nothing that it shares is
wrong."""

from carb_data import CULTURES, NAMES, fact_topic, reference, texts, topic
from support import script

possible_items = script("prepare/carb_possible_items").possible_items
reference_rows = script("sources/carb_references").reference_rows


def items_of(*topics, asked=NAMES, cultures=CULTURES):
    rows = list(reference_rows(topics, cultures, asked))
    return {item["id"]: item for item in possible_items(rows, cultures)}


def texts_of(item):
    return [answer["text"] for answer in (item["chosen"], *item["answers"])]


def test_an_item_asks_in_its_own_language_and_has_its_own_answer_and_every_other_culture_s():
    items = items_of(topic())
    prompts = {item["culture"]: item["prompt"] for item in items.values()}
    assert prompts == {"en": "in US en?", "de": "in DE de?", "ru": "в RU ru?", "ja": "JPでは ja?"}
    item = items["greeting_de"]
    assert item["chosen"] == {"value": "v1", "check": "Book 1", "text": "Handschlag"}
    assert item["answers"] == [
        {"value": "v0", "check": "Book 0", "text": "Verbeugung", "cultures": ["en"]},
        {"value": "v2", "check": "Book 2", "text": "zwei Küsse", "cultures": ["ru"]},
        {"value": "v3", "check": "Book 3", "text": "Nicken", "cultures": ["ja"]},
    ]
    fields = {"domain": "values", "source": "etiquette", "topic": "greeting", "is_fact": False}
    assert {name: item[name] for name in fields} == fields


def test_a_value_that_cultures_share_is_wrong_for_none_of_them_and_cultures_not_asked_give_no_answer():
    shared = enumerate([["en", "ja"], ["de", "ru"]])
    values = [{"id": f"v{n}", "cultures": of, "check": "c", "text": texts(n)} for n, of in shared]
    item = items_of(topic(values=values))["greeting_en"]
    assert item["shared"] == ["ja"]
    assert [(answer["value"], answer["cultures"]) for answer in item["answers"]] == [("v1", ["de", "ru"])]
    item = items_of(topic(), asked=["en", "de", "ru"])["greeting_en"]
    assert [answer["cultures"] for answer in item["answers"]] == [["de"], ["ru"]]


def test_the_answer_stands_in_the_language_s_unlabelled_frame():
    frames = {**CULTURES["languages"], "de": {"unlabelled": "So: {answer}."}}
    items = items_of(topic(), cultures={**CULTURES, "languages": frames})
    assert texts_of(items["greeting_de"])[:2] == ["So: Handschlag.", "So: Verbeugung."]
    assert items["greeting_en"]["chosen"]["text"] == "a bow"


def test_a_fact_s_value_is_its_key_and_two_cultures_that_share_it_are_no_mismatch():
    item = items_of(fact_topic("short_date"))["short-date_de"]
    assert (item["chosen"]["value"], item["shared"], item["is_fact"]) == ("31.12.2025", ["ru"], True)
    assert texts_of(item)[1:] == ["= 12/31/2025", "= 2025/12/31"]


def test_a_holiday_is_named_in_the_prompt_and_dated_in_the_asked_language():
    item = items_of(fact_topic("holiday_date"))["holiday-date-1_ja"]
    assert item["prompt"] == "JPでは 海の日?"
    assert texts_of(item) == ["= 7月21日", "= 5月26日", "= 4月21日", "= 5月9日"]
    assert "holidays 0.109" in item["chosen"]["check"]


def test_an_ambiguous_fact_is_no_item_and_no_answer_but_a_row():
    rows = list(reference_rows([fact_topic("holiday_date", id="holiday-2")], CULTURES, NAMES))
    assert [row["value"] for row in rows] == [None] * 4
    assert list(possible_items(rows, CULTURES)) == []
    some = [reference("en", "x"), reference("de", None), reference("ru", "y")]
    found = {item["id"]: item["answers"] for item in possible_items(some, CULTURES)}
    cultures = {name: [answer["cultures"] for answer in answers] for name, answers in found.items()}
    assert cultures == {"t_en": [["ru"]], "t_ru": [["en"]]}
