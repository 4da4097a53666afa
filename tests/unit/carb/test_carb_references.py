"""Reading references: every problem of topics and cultures is named, and nothing else."""

import copy

import pytest
import yaml
from carb_data import CULTURES, NAMES, TOPIC_SCHEMA, fact_topic, texts, topic
from support import refused

from polyreward.carb.items.cultures import culture_of, read_cultures
from polyreward.carb.items.topics import read_topics, topic_problems


def written(tmp_path, *topics, name="values.yaml"):
    items = [{key: value for key, value in item.items() if key != "domain"} for item in topics]
    (tmp_path / name).write_text(yaml.safe_dump(items, allow_unicode=True), encoding="utf-8")
    return tmp_path


def read(folder, domains=("values",)):
    return read_topics(folder, CULTURES, list(domains), TOPIC_SCHEMA)


def assert_refused(said, call, *arguments):
    error = refused(call, *arguments)
    assert [text for text in said if text not in error] == []


def test_good_topics_are_read_with_their_domain_which_is_a_file_s_name_up_to_an_underscore(tmp_path):
    good = [topic(), fact_topic("short_date"), fact_topic("currency_sign"), fact_topic("holiday_date")]
    written(tmp_path, topic(id="other"), name="safety.yaml")
    assert read(written(tmp_path, *good, name="values_facts.yaml")) == good


def value(number, cultures, **changes):
    return {"id": f"v{number}", "cultures": cultures, "check": "c", "text": texts(number), **changes}


FOUR = [value(0, ["en"]), value(1, ["de"]), value(2, ["ru"])]
TOPIC_PROBLEMS = {
    "a language is missing in the prompt": (
        topic(prompt=dict.fromkeys(("en", "de"), "{place}?")), "prompt is not in ru, ja; write it in every language"),
    "a prompt is blank": (
        topic(prompt={**topic()["prompt"], "de": " "}), ("prompt is not in de", "prompt, de: {place} appears 0 times")),
    "no place": (topic(prompt={**topic()["prompt"], "de": "?"}), "prompt, de: {place} appears 0 times; it appears once"),
    "the place appears twice": (topic(prompt={**topic()["prompt"], "ja": "{place}{place}"}), "prompt, ja: {place} appears 2 times"),
    "a holiday where none is asked about": (
        topic(prompt={**topic()["prompt"], "en": "{place} {holiday}?"}), "prompt, en: {holiday} belongs in the prompts of"),
    "no holiday where one is": (
        fact_topic("holiday_date", prompt=topic()["prompt"]), tuple(f"prompt, {name}: {{holiday}} belongs" for name in NAMES)),
    "a culture is in two values": (
        topic(values=[*FOUR, value(3, ["ja", "en"])]), "culture en is in 2 values; a culture has one"),
    "a culture is in no value": (
        topic(values=[*FOUR, value(3, ["en"])]), ("culture en is in 2 values", "culture ja is in no value; give it one")),
    "an unknown culture": (
        topic(values=[*FOUR, value(3, ["ja", "jp"])]), "culture: `jp` is unknown; the file of cultures has de, en, ja, ru"),
    "a text lacks a language": (
        topic(values=[*FOUR, value(3, ["ja"], text={"en": "x", "ja": "y"})]), "value `v3` is not in de, ru; write it in every"),
    "a value's id appears twice": (
        topic(values=[*FOUR, value(2, ["ja"])]), "value `v2` appears 2 times; ids are unique within a topic"),
    "two values with the same text in a language": (
        topic(values=[*FOUR, value(3, ["ja"], text={**texts(3), "de": "HANDSCHLAG "})]),
        "values `v1` and `v3` are the same text in de; write them apart, or make them one value"),
    "too few values": (
        topic(values=[*FOUR[:2], value(2, ["ru", "ja"])]), "has 3 values; an item needs 4, one right and the others wrong"),
    "an unknown fact": (fact_topic("short_dat"), "fact: `short_dat` is unknown; polyreward/carb/items/facts.py has currency_sign,"),
    "an answer lacks a language": (
        fact_topic("currency_sign", answer={"en": "{value}"}), "answer is not in de, ru, ja; write it in every language"),
    "an answer without its value": (
        fact_topic("short_date", answer={**fact_topic("short_date")["answer"], "ru": "x"}), "answer, ru: {value} appears 0 times"),
    "a holiday without a number": (fact_topic("holiday_date", id="holiday"), "its id must end in the holiday's number"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOPIC_PROBLEMS)
def test_a_topic_s_problem_is_named(case):
    item, starts = TOPIC_PROBLEMS[case]
    found = list(topic_problems(item, CULTURES))
    starts = (starts,) if isinstance(starts, str) else starts
    assert len(found) == len(starts), found
    for problem, start in zip(found, starts, strict=True):
        assert problem.startswith(start)


def test_all_problems_of_all_files_are_in_one_error(tmp_path):
    bad = topic(prompt={**topic()["prompt"], "de": "?"})
    written(tmp_path, bad, {**topic(id="two"), "colour": "red"})
    written(tmp_path, bad, topic(id="three"), name="values_2.yaml")
    (tmp_path / "values_3.yaml").write_bytes("- id: ö".encode("latin-1"))
    (tmp_path / "values_4.yaml").write_text("- [", encoding="utf-8")
    written(tmp_path, topic(id="three"), name="values_5.yaml")
    survey = {"id": "trust", "source": "survey", "check": "Q1", "prompt": {"en": ["{place}?", "{place}!"]}}
    written(tmp_path, {**survey, "shares": {"en": 104, "de": 3}}, name="values_6.yaml")
    said = (
        "Unevaluated properties are not allowed ('colour' was unexpected)",
        f"{tmp_path}/values_2.yaml: `greeting`: prompt, de: {{place}} appears 0 times",
        f"{tmp_path}/values_3.yaml: not UTF-8 (byte 6); save the file in UTF-8",
        f"{tmp_path}/values_4.yaml: not YAML",
        "`trust` shares en: 104 is greater than the maximum of 100",
        "topic `three` appears 2 times; ids are unique within all files",
        "domain `safety` has no topic; write some, or leave it out of carb.domains",
    )
    assert_refused(said, read, tmp_path, ["values", "safety"])


@pytest.mark.parametrize("gone", ["id", "source", "prompt", "values"])
def test_a_topic_without_a_key_is_named(tmp_path, gone):
    folder = written(tmp_path, {key: value for key, value in topic().items() if key != gone})
    said = "needs values; or fact and answer" if gone == "values" else f"'{gone}' is a required"
    assert_refused([said], read, folder)


def cultures_file(tmp_path, place="", new=None):
    """Write CULTURES with one change, at a place such as cultures/de."""
    data = copy.deepcopy(CULTURES)
    *outer, last = place.split("/")
    inner = data
    for name in outer:
        inner = inner[name]
    inner |= {last: new} if last else {}
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    (tmp_path / "cultures.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "cultures.yaml"


def test_good_cultures_are_read_and_an_unknown_one_and_a_missing_file_are_named(tmp_path):
    file = cultures_file(tmp_path)
    found = read_cultures(file, NAMES)
    assert found == CULTURES
    assert culture_of(found, "de").holidays == ("Ostermontag",)
    assert_refused(["carb.cultures: `fr` is unknown;"], read_cultures, file, ["en", "fr"])
    assert_refused(
        ["none.yaml: no such file; correct the path"], read_cultures, tmp_path / "none.yaml", NAMES
    )


@pytest.mark.parametrize(
    ("place", "new", "said"),
    [
        ("cultures/de/territory", None, "culture de: has no `territory`"),
        ("cultures/de/places", {"en": "in DE"}, "culture de: places is not in de, ru, ja"),
        ("cultures/de/holidays", ["Ostermontg"], "did you mean `Ostermontag`?"),
        ("languages/ja", {"labelled": "{Place} {answer}"}, "language ja: `unlabelled` is a text with {answer} once and no place"),
        ("languages/ja/labelled", "{answer}", "language ja: `labelled` is a text with {answer} once and {place} or {Place} once"),
        ("languages", None, "needs `cultures` and `languages`, each a mapping"),
    ],
)  # fmt: skip
def test_a_problem_of_the_cultures_is_named(tmp_path, place, new, said):
    assert_refused([said], read_cultures, cultures_file(tmp_path, place, new), NAMES)
