"""Questions that share their answers (sayings, requests, surveys), so that answers reveal nothing."""

from collections import Counter

import pytest
from carb_data import CULTURES, NAMES
from support import script

from polyreward.carb.items.selection import finished_items, groups_of_four, item_problems, split_topics
from polyreward.carb.items.topics import band, topic_problems

possible_items = script("prepare/carb_possible_items").possible_items
references = script("sources/carb_references")

BANDS = ["Under {low}.", "{low} to 50.", "50 to {high}.", "Over {high}."]
LANGUAGES = {name: {**frames, "bands": BANDS} for name, frames in CULTURES["languages"].items()}
WORLD = {**CULTURES, "languages": LANGUAGES}


def own_topic(number: int, questions: int = 1) -> dict:
    def entries(culture: str) -> list[dict]:
        names = [f"{number}.{question}" for question in range(questions)]
        return [
            {"prompt": f"{culture} {name}?", "text": {culture: f"Reply {name}."}, "check": "Book"}
            for name in names
        ]

    own = {name: entries(name) for name in NAMES}
    return {"id": f"saying-{number}", "domain": "linguistics", "source": "idiom", "own": own}


def survey(name: str, **shares: float) -> dict:
    forms = {culture: [f"{name} {{place}}?", f"Not {name} {{place}}?"] for culture in NAMES}
    found = {"id": name, "domain": "values", "source": "survey", "check": "Q1"}
    return {**found, "prompt": forms, "shares": shares}


def possible_of(topics: list[dict]) -> tuple[list[dict], list[dict]]:
    rows = list(references.reference_rows(topics, WORLD, NAMES))
    return rows, list(possible_items(rows, WORLD))


def items_of(topics: list[dict]) -> list[dict]:
    rows, possible = possible_of(topics)
    items = finished_items(possible, 7)
    assert list(item_problems(items, rows)) == []
    return items


@pytest.mark.parametrize(
    ("cut", "places"),
    [
        (20, {7: 0, 37: 1, 64: 2, 92: 3, 18: None, 49: None}),  # none near a border
        (30, {25: 0, 52: None, 71: None}),
        (40, {64: 3, 62: None}),
    ],
)
def test_a_share_lies_in_one_of_four_bands_and_near_a_border_is_not_asked_about(cut, places):
    assert {share: band(share, cut) for share in places} == places


def test_a_survey_s_contrary_has_the_mirrored_band_and_every_language_a_text():
    rows = list(references.survey_rows(survey("trust", en=7, de=37), WORLD, NAMES))
    one, other = (row for row in rows if row["culture"] == "en" and row["scale"] == "20")
    found = [(row["topic"], row["value"], row["prompt"]) for row in (one, other)]
    assert found == [("trust-20", "lowest", "trust in US?"), ("trust-20-not", "highest", "Not trust in US?")]
    assert one["texts"]["de"] == "Under 20." and other["texts"]["en"] == "Over 80."
    assert {row["family"] for row in rows} == {"trust"}


@pytest.mark.parametrize("questions", [1, 2])
def test_each_answer_is_right_once_and_wrong_three_times(questions):
    items = items_of([own_topic(number, questions) for number in range(8)])
    assert Counter(item["culture"] for item in items) == dict.fromkeys(NAMES, 8 * questions)
    for culture in NAMES:
        own = [item for item in items if item["culture"] == culture]
        assert set(Counter(answer for item in own for answer in item["answers"]).values()) == {4}
        assert len({item["answers"][item["chosen"]] for item in own}) == len(own)
        assert set(Counter(item["chosen"] for item in own).values()) == {2 * questions}


def test_a_survey_is_paired_with_one_whose_bands_are_the_other_two():
    items = items_of([survey("a", en=5, de=44), survey("b", en=44, de=5), survey("c", en=8, de=92)])
    assert Counter(item["culture"] for item in items) == {"en": 4, "de": 4}
    for item in items:
        families = {reference["topic"].split("-")[0] for reference in item["references"]}
        assert "b" in families if item["culture"] == "en" else "a" in families
        assert len({reference["value"] for reference in item["references"]}) == 4


def test_questions_of_a_family_are_held_out_together():
    rows, items = possible_of([own_topic(number, 2) for number in range(10)])
    inside, outside = (split_topics(rows, items, 0.2, 1, training=training)[1] for training in (True, False))
    assert len({item["family"] for item in inside}) == 2
    assert not {item["family"] for item in inside} & {item["family"] for item in outside}


def test_what_cannot_be_grouped_is_left_out():
    _, items = possible_of([own_topic(number) for number in range(6)])
    groups = groups_of_four([item for item in items if item["culture"] == "en"], 3)
    assert [len(group) for group in groups] == [4]


def test_faults_of_own_topics_and_surveys_are_named_at_once():
    topic = own_topic(1, 2)
    topic["own"]["en"][1]["text"] = {"en": "Reply 1.0."}
    topic["own"]["de"] = [{"prompt": "?", "text": {"en": "Reply."}, "check": "Book"}]
    topic["own"]["xx"] = topic["own"]["ru"]
    asked = survey("trust", en=70, de=10, xx=3)
    asked["prompt"]["en"] = ["{place}?"]
    alike = survey("trust", en=60, de=61)
    for wrong, faults in (
        (topic, ("different numbers of questions (en 2, de 1", "two questions have the same answer",
                 "own, de, question 1: its answer is not in de", "`xx` is unknown")),
        (asked, ("prompt, en: needs 2 forms", "`xx` is unknown")), (alike, ("all cultures are in the same band",)),
    ):  # fmt: skip
        problems = " ".join(topic_problems(wrong, WORLD))
        assert [fault for fault in faults if fault not in problems] == []
