"""Place quartets: four places whose answers differ, the same in every language, and every fault by its name."""

import json
from collections import Counter
from itertools import combinations

import pytest
from carb_data import CULTURES, NAMES, TOPIC_SCHEMA, fact_topic, texts, topic
from support import ROOT, refused

from polyreward.carb.culture.comparison import few_topics
from polyreward.carb.culture.quartets import (
    Quartet,
    Wording,
    built_quartets,
    quartet_rows,
    read_quartet_files,
    scale_quartets,
    unplaced_row,
    with_place,
    without_place,
)
from polyreward.prepare.topics import FACT, FORMAT
from polyreward.sheet.data import quartet_choices
from polyreward.sheet.entries import read_models

SETTINGS = read_models(["workflow/scales/night.yaml"], ROOT).settings  # in all languages
SCHEMA = ROOT / "workflow/schemas/carb_topics.schema.yaml"


def whole(seed, per_topic=2, max_topics=None):
    """Return the quartets of our topics, and further ones for lessons."""
    choices = quartet_choices(SETTINGS) | {"per_topic": per_topic, "max_topics": max_topics}
    return scale_quartets(choices, SETTINGS.carb.culture_file, SETTINGS.carb.topics, SCHEMA, seed)


@pytest.fixture(scope="module")
def ours():
    """The quartets of all our topics, two of each."""
    return whole(42)[0]


def built(*topics, asked=NAMES, languages=("en", "ja"), per_topic=2, seed=1):
    return built_quartets(topics, CULTURES, asked, languages, per_topic, seed)[0]


def test_our_98_topics_have_164_quartets_and_two_of_a_topic_share_no_culture(ours):
    assert (len(ours), len({quartet.topic for quartet in ours})) == (164, 98)
    formats = {quartet.topic for quartet in ours if quartet.kind == FORMAT}
    assert (
        len(formats) == 14 and {"currency-sign", "short-date", "quotation-marks", "calling-code"} <= formats
    )
    for one, other in combinations(ours, 2):
        assert one.topic != other.topic or not set(one.places) & set(other.places)
    assert list(few_topics(ours)) == []
    assert list(few_topics(ours[:3])) == [
        "place quartets, fact: 2 topics, fewer than 10, so that carb_culture.csv has no intervals of them"
    ]


def test_no_prompt_of_mini_shows_a_gap_or_begins_in_lower_case_and_one_names_no_place(ours):
    for quartet in ours:
        for language, wording in quartet.wordings.items():
            placed, without = list(quartet_rows(quartet, language)), unplaced_row(quartet, language)
            assert [row["chosen"] for row in placed] == [0, 1, 2, 3] and without["chosen"] is None
            assert len({row["prompt"] for row in placed}) == 4
            assert len(set(wording.answers)) == 4
            for row in (*placed, without):
                first = next(filter(str.isalpha, row["prompt"]))
                assert "{" not in row["prompt"] and "  " not in row["prompt"] and not first.islower()
                assert not row["prompt"].startswith((",", "\u3001", "\uff0c"))
            assert not any(phrase in without["prompt"] for phrase in wording.places)


def test_a_quartet_s_rows_ask_about_each_place_and_answer_with_all_four():
    wording = Wording("How {place}?", ["in A", "in B", "in C", "in D"], ["a", "b", "c", "d"])
    quartet = Quartet("t-1", "t", "values", FACT, ["A", "B", "C", "D"], {"en": wording})
    rows = [*quartet_rows(quartet, "en"), unplaced_row(quartet, "en")]
    assert [row["id"] for row in rows] == ["t-1_1", "t-1_2", "t-1_3", "t-1_4", "t-1"]
    assert [row["prompt"] for row in rows] == ["How in A?", "How in B?", "How in C?", "How in D?", "How?"]
    assert [row["place"] for row in rows] == ["A", "B", "C", "D", None]
    key = {"quartet": "t-1", "topic": "t", "domain": "values", "kind": FACT, "culture": "en"}
    assert all(key.items() <= row.items() and row["answers"] == ["a", "b", "c", "d"] for row in rows)


@pytest.mark.parametrize(
    ("question", "placed", "without"),
    [
        ("What is eaten {place}?", "What is eaten in A?", "What is eaten?"),
        ("{place}, what is eaten?", "In A, what is eaten?", "What is eaten?"),
        ("{place}\uff0c\u4ec0\u4e48\uff1f", "In A\uff0c\u4ec0\u4e48\uff1f", "\u4ec0\u4e48\uff1f"),
        ("\u00bf{place} qu\u00e9 se come?", "\u00bfIn A qu\u00e9 se come?", "\u00bfQu\u00e9 se come?"),
        ("Was isst man {place} gern?", "Was isst man in A gern?", "Was isst man gern?"),
    ],
)
def test_a_place_is_put_into_a_question_and_taken_out_of_it(question, placed, without):
    assert (with_place(question, "in A"), without_place(question)) == (placed, without)


def test_cultures_of_one_value_are_never_in_one_quartet_and_holidays_in_none():
    values = topic()["values"]
    values[0]["cultures"] = ["en", "zh"]
    world = {**CULTURES, "cultures": {**CULTURES["cultures"], "zh": CULTURES["cultures"]["en"]}}
    found, _ = built_quartets([topic(values=values)], world, [*NAMES, "zh"], ["en"], 2, 1)
    assert len(found) == 1 and not {"en", "zh"} <= set(found[0].places)
    assert built(fact_topic("short_date")) == []  # de and ru write it alike
    assert built(fact_topic("holiday_date")) == []
    assert built(topic(), asked=NAMES[:3]) == []


def test_a_text_that_two_answers_share_in_a_language_of_the_scale_keeps_them_out_of_one_quartet():
    values = topic()["values"]
    values[1]["text"] = {**texts(1), "ja": texts(0)["ja"]}
    assert built(topic(values=values)) == []
    assert len(built(topic(values=values), languages=["en"])) == 1


def test_the_draw_depends_on_the_seed_and_on_no_other_topic(ours):
    def drawn(seed):
        return {quartet.topic: tuple(quartet.places) for quartet in whole(seed, 1)[0]}

    assert len(drawn(42)) == 98 and drawn(42) != drawn(43)
    alone = built(topic())
    assert built(topic(id="other"), topic())[1] == alone[0]


def test_fewer_topics_are_a_part_of_more_with_the_same_quartets():
    (all_of_them, further), (some, of_some), (few, _) = (whole(42, 1, count) for count in (None, 32, 12))
    topics = {quartet.topic for quartet in some}
    assert Counter(quartet.kind for quartet in some) == {FACT: 32, FORMAT: 14}
    assert Counter(quartet.kind for quartet in few) == {FACT: 12, FORMAT: 12}
    assert {quartet.topic for quartet in few} < topics
    assert some == [quartet for quartet in all_of_them if quartet.topic in topics]
    assert of_some == [quartet for quartet in further if quartet.topic in topics]


def test_a_place_without_a_name_and_topics_without_four_answers_are_named(tmp_path):
    culture_file, folder = tmp_path / "cultures.yaml", tmp_path / "topics"
    folder.mkdir()
    world = json.loads(json.dumps(CULTURES))
    del world["cultures"]["de"]["places"]["ja"]
    choices = {
        "files": {},
        "cultures": NAMES,
        "domains": ["values"],
        "topics_per_domain": None,
        "max_topics": None,
        "per_topic": 2,
        "more_topics": tmp_path / "more",
        "languages": ["en"],
    }
    (tmp_path / "more").mkdir()
    (folder / "values.yaml").write_text(json.dumps([{k: v for k, v in topic().items() if k != "domain"}]))
    culture_file.write_text(json.dumps(world))
    assert "culture de: places is not in ja" in refused(
        scale_quartets, choices, culture_file, folder, SCHEMA, 1
    )
    culture_file.write_text(json.dumps(CULTURES))
    assert len(scale_quartets(choices, culture_file, folder, SCHEMA, 1)[0]) == 1
    again = [{k: v for k, v in topic().items() if k != "domain"}]
    (tmp_path / "more/culture_again.yaml").write_text(json.dumps(again))
    assert "is also in" in refused(scale_quartets, choices, culture_file, folder, SCHEMA, 1)
    (tmp_path / "more/culture_again.yaml").unlink()
    few = choices | {"cultures": NAMES[:3]}
    assert "no topic has four of carb.cultures" in refused(
        scale_quartets, few, culture_file, folder, SCHEMA, 1
    )
    assert TOPIC_SCHEMA


ROW = {
    "topic": "soup",
    "question": "What is soup eaten with {place}?",
    "places": ["in A", "in B", "in C", "in D"],
    "answers": ["With a spoon.", "With chopsticks.", "From the bowl.", "With bread."],
}


def files_of(folder, **rows):
    paths = {language: folder / f"{language}.jsonl" for language in rows}
    for language, path in paths.items():
        path.write_text("\n".join(map(json.dumps, rows[language])), encoding="utf-8")
    return paths


def test_quartets_of_the_user_s_own_are_read_by_their_ids_in_any_order(tmp_path):
    second = {**ROW, "id": "soup-2", "kind": "format"}
    found = read_quartet_files(files_of(tmp_path, en=[ROW, second], it=[second, ROW]))
    assert [(quartet.name, quartet.topic, quartet.kind) for quartet in found] == [
        ("soup", "soup", FACT), ("soup-2", "soup", FORMAT)
    ]  # fmt: skip
    assert list(found[0].wordings) == ["en", "it"]
    assert next(quartet_rows(found[0], "it"))["prompt"] == "What is soup eaten with in A?"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"places": ["in A", " ", "in C", "in D"]}, "place 2 has no name; write it"),
        ({"places": ["in A", "in B", "in a", "in D"]}, "two of its places are the same text"),
        ({"answers": ["x", "y", "X ", "z"]}, "two of its answers are the same text"),
        ({"answers": ["x", "y", "z"]}, "`answers` is no list of 4 texts"),
        ({"answers": ["x", "", "y", ""]}, "answer 2, 4 has no text; write it"),
        ({"question": "What is soup eaten with?"}, "`question` has {place} 0 times; it has it once"),
        ({"question": ""}, "has no `question`; write it as text"),
        ({"topic": 3}, "has no `topic`; write it as text"),
        ({"kind": "date"}, "`kind` is `date`; it is one of fact, format"),
    ],
)
def test_a_fault_of_the_user_s_quartets_is_named_with_its_place(tmp_path, change, said):
    text = refused(read_quartet_files, files_of(tmp_path, en=[ROW | {"id": "a"}, ROW | change | {"id": "b"}]))
    assert "en.jsonl:2: `b`: " in text and said in text and "1 problem" in text


def test_all_faults_are_named_at_once_and_so_are_quartets_that_a_language_lacks(tmp_path):
    bad = ROW | {"places": ["", "in B", "in C", "in D"], "answers": ["x", "x", "y", "z"]}
    files = files_of(tmp_path, en=[ROW, ROW, bad | {"id": "bad"}], it=[ROW])
    text = refused(read_quartet_files, files)
    for said in (
        "4 problems",
        "another quartet has this `id`",
        "place 1 has no name",
        "the same text",
        "`bad` is not in it",
    ):
        assert said in text
    assert "the files have no quartet" in refused(read_quartet_files, files_of(tmp_path, en=[]))


def test_further_quartets_of_a_topic_share_no_culture_with_the_one_about_other_places():
    found, further = whole(42)
    assert len(further) > 100
    for one in further:
        first, *others = (other for other in found if other.topic == one.topic)
        assert set(one.places) != set(first.places)
        assert not any(set(one.places) & set(other.places) for other in others)
