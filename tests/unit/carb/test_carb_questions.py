"""The questions that each culture answers in its own way and those of files, and what their answers are rated
by, in every script."""

import json
from itertools import combinations

import numpy as np
import pytest
from support import ROOT, script

from polyreward.carb.downstream.ratings import (
    NOTHING,
    answer_ratings,
    chosen_option,
    matches,
    plain,
    question_ratings,
    says,
)
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml

questions = script("prepare/carb_questions")
accepted_questions = questions.accepted_questions

OURS = str(ROOT / "resources/carb/questions.yaml")
DATA = read_yaml(OURS)
QUESTIONS = accepted_questions(DATA, list(DATA), "questions.yaml")
DAYS_AND_MONTHS = ["Monday", "Wednesday", "March", "December", "Montag", "Dezember", "lunes", "diciembre", "понедельник",
                   "декабрь", "星期", "曜日", "十二月", "요일", "섣달", "วันจันทร์", "ธันวาคม", "thứ hai", "tháng", "الأحد",
                   "ديسمبر"]  # fmt: skip


def of(asks: str, culture: str) -> dict:
    (found,) = (q for q in QUESTIONS if q["id"].startswith(f"{asks}-") and q["culture"] == culture)
    return found


def test_every_culture_is_asked_the_same_in_its_own_words():
    assert len(DATA) == 10 and len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    asked = {tuple(question["asks"] for question in entry["questions"]) for entry in DATA.values()}
    assert asked == {("mountain", "book", "first", "dog", "cock", "exam", "saying", "toast")}
    assert all(question["check"] for entry in DATA.values() for question in entry["questions"])
    assert len({question["prompt"] for question in QUESTIONS}) == len(QUESTIONS)


def test_no_two_cultures_share_an_answer():
    for asks in {question["asks"] for question in DATA["de"]["questions"]}:
        for one, other in combinations(DATA, 2):
            right, wrong = of(asks, one)["accepted"], of(asks, other)["accepted"]
            assert not any(matches(text, right) for text in wrong), (asks, one, other)
            assert not any(matches(text, wrong) for text in right), (asks, one, other)


def test_answers_with_known_variants():
    assert of("mountain", "de")["accepted"][0] == "Zugspitze" and "富士山" in of("mountain", "ja")["accepted"]
    for said, match in (("Ich glaube, es ist die Zugspitze.", 100), ("Der Brocken.", 0)):
        assert answer_ratings(said, of("mountain", "de")["accepted"])["match"] == match
    assert answer_ratings("Montag", ["Montag", "Sunday"]) == {"match": 100.0, "chrf": pytest.approx(100)}
    assert answer_ratings(NOTHING, ["Montag"]) == {"match": 0.0, "chrf": 0.0}
    assert 0 < answer_ratings("Monta", ["Montag"])["chrf"] < 100
    assert of("dog", "ja")["shown"].endswith("問： 犬は何と鳴きますか？\n答：")


def test_no_question_or_example_gives_its_answer_away_and_none_asks_about_days_or_months():
    for question in QUESTIONS:
        shown = plain(question["shown"])
        assert not any(plain(text) in shown for text in question["accepted"]), question["id"]
        said = " ".join([question["prompt"], *question["accepted"]])
        assert not any(name.casefold() in said.casefold() for name in DAYS_AND_MONTHS), question["id"]


def test_bad_questions_are_named():
    with pytest.raises(PolyrewardError, match="culture fr has no questions"):
        accepted_questions(DATA, ["de", "fr"], "questions.yaml")
    right = {"a": None, "b": ["B"], "c": "C", "d": ["！"], "e": ["分"]}
    bad = [
        {"asks": asks, "prompt": "b?", **({"accepted": text} if text else {})} for asks, text in right.items()
    ]
    said = ("question 1: has no `accepted`; write it", "c: `accepted` is no list", "d: “！” has neither",
            "e: “分” is a single letter", "“b\\?” appears twice")  # fmt: skip
    with pytest.raises(PolyrewardError, match=f"(?s){'.*'.join(said)}"):
        accepted_questions({"de": {**DATA["de"], "questions": bad}}, ["de"], "questions.yaml")
    shown = {**DATA["de"], "examples": [[DATA["de"]["questions"][0]["prompt"], "Zugspitze"]]}
    with pytest.raises(PolyrewardError, match="is an example too"):
        accepted_questions({"de": shown}, ["de"], "questions.yaml")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("The Winter!", "the winter", True), ("thứ năm.", "Thứ Năm", True), ("السَّبْت", "السبت", True), ("１２月", "12月", True),
     ("أحمد", "احمد", True), ("ثانوية", "ثانويه", True), ("วันพุธ", "วันพธ", False), ("Thứ Năm", "Thu Nam", False),
     ("Montag", "Mittag", False)],
)  # fmt: skip
def test_what_counts_as_the_same_answer(one, other, same):
    assert (plain(one) == plain(other)) == same


@pytest.mark.parametrize(
    ("reply", "accepted", "right"),
    [("Der höchste Berg ist die Zugspitze.", "Zugspitze", True), ("In Deutschland:\n\n**Zugspitze**", "Zugspitze", True),
     ("Zugspitzen gibt es viele", "Zugspitze", False), ("It is North Korea", "Korea", True), ("Koreans", "Korea", False),
     ("The  United\nStates!", "the United States", True), ("Phan-xi-păng là cao nhất", "Phan Xi Păng", True),
     # words without spaces between them: anywhere
     ("中国最高的山峰是珠穆朗玛峰。", "珠穆朗玛峰", True), ("日本一高い山は富士山です。", "富士山", True),
     ("答えはワンワンだよ", "ワンワン", True), ("คือดอยอินทนนท์ครับ", "ดอยอินทนนท์", True), ("คือดอยหลวงครับ", "ดอยอินทนนท์", False),
     # words of another script among these
     ("ระบบTCASครับ", "TCAS", True), ("รัชกาลที่ 10", "รัชกาลที่ 1", False), ("รัชกาลที่ 1คือ", "รัชกาลที่ 1", True),
     ("デナリはDenaliです", "Denali", True), ("Denali입니다", "Denali", True), ("Denalix", "Denali", False),
     # particles follow Korean words
     ("가장 높은 산은 한라산입니다", "한라산", True), ("매일요일", "일요일", False),
     # Arabic's come before
     ("دخل الجامعة بالثانوية العامة", "الثانوية العامة", True), ("يعود الفضل للثانوية العامة", "الثانوية العامة", True),
     ("كتبها الأديب ونجيب محفوظ هو المؤلف", "نجيب محفوظ", True), ("نجيب الريحاني", "نجيب محفوظ", False),
     ("الله اعلم", "له", False), ("إنه جبلُ كاترين", "جبل كاترين", True)],
)  # fmt: skip
def test_a_reply_of_sentences_is_right_where_it_says_an_accepted_answer(reply, accepted, right):
    assert says(reply, accepted) == right
    assert (answer_ratings(reply, [accepted])["match"] == 100) == right


def test_every_accepted_answer_is_found_in_a_sentence():
    around = {"zh": "我想是{}吧。", "ja": "それは{}です。", "ko": "아마 {}입니다.", "th": "คงเป็น{}ครับ"}
    for question in QUESTIONS:
        sentence = around.get(question["culture"], "X: {}, y.")
        for text in question["accepted"]:
            assert says(sentence.format(text), text), (question["id"], text)


EXAM = {"id": "exam-1_es", "language": "es", "prompt": "¿Capital?", "options": ["Roma", "Madrid", "París", "Lima"], "right": 1}  # fmt: skip
SHORT = {"id": "short-1_es", "culture": "es", "prompt": "¿Se come?", "accepted": ["arroz", "rice"]}
OPEN = {"id": "open-1_es", "language": "es", "prompt": "¿Por qué?", "reference": "Porque sí."}


def written(path, *rows) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def asked(*files, cultures=("es",), per_culture=None) -> list[dict]:
    return questions.downstream_questions(list(files), cultures, per_culture, 1)


def test_a_set_is_named_after_its_file_and_its_questions_say_what_they_are_rated_by(tmp_path):
    sets = {"exams": EXAM, "short": SHORT, "open": OPEN}
    files = [written(tmp_path / f"{name}.jsonl", row) for name, row in sets.items()]
    found = asked(OURS, *files, cultures=["es", "ja"])
    ours, (exam, short, open_) = found[:-3], found[-3:]
    assert {question["downstream"] for question in ours} == {"questions"}
    assert {question["culture"] for question in ours} == {"es", "ja"}
    lines = "¿Capital?\nA. Roma\nB. Madrid\nC. París\nD. Lima\nAnswer:"
    assert (exam["downstream"], exam["prompt"], exam["shown"], exam["right"]) == ("exams", lines, lines, 1)
    assert short == {"id": "short-1_es", "culture": "es", "accepted": ["arroz", "rice"], "prompt": "¿Se come?",
                     "shown": "¿Se come?\n", "downstream": "short"}  # fmt: skip
    assert open_["reference"] == "Porque sí." and "accepted" not in open_


def test_as_many_questions_of_each_set_and_culture_as_are_asked_for_the_same_ones_beside_others(tmp_path):
    many = written(tmp_path / "many.jsonl", *({**SHORT, "id": f"many-{n}"} for n in range(9)))
    found = asked(OURS, many, cultures=["es", "ja"], per_culture=2)
    sets = [("questions", "es"), ("questions", "ja"), ("many", "es")]
    assert [(q["downstream"], q["culture"]) for q in found] == [one for one in sets for _ in range(2)]
    assert asked(many, per_culture=2) == found[-2:]


def test_every_line_that_is_amiss_is_named_with_how_to_fix_it(tmp_path):
    rows = [
        {"id": "a", "language": "es", "prompt": " "}, {**EXAM, "right": 4}, {**EXAM, "options": ["a", "b", "c"]},
        {**SHORT, "accepted": []}, {**OPEN, "reference": ""}, {**OPEN, "accepted": ["a"]}, {**SHORT, "id": 7}, "{",
    ]  # fmt: skip
    said = (
        "1: `prompt` is no text", "1: has no answer; give one of accepted, options, reference",
        "2: `options` are not 4 texts, or `right` is none of 0 to 3", "3: `options`", "4: `accepted`", "5: `reference`",
        "6: has accepted and reference", "7: `id`", "8: not JSON",
    )  # fmt: skip
    with pytest.raises(PolyrewardError) as error:
        asked(written(tmp_path / "bad.jsonl", *rows))
    assert [part for part in said if f"bad.jsonl:{part}" not in str(error.value)] == []


def test_a_table_with_empty_cells_is_read_messages_as_text_are_refused_and_a_long_list_is_cut(tmp_path):
    table = "id,language,prompt,reference,accepted\na,es,¿Qué?,Sí.,\n"
    (tmp_path / "a.csv").write_text(table, encoding="utf-8")
    (found,) = asked(str(tmp_path / "a.csv"))
    assert found["reference"] == "Sí." and "accepted" not in found
    as_text = written(tmp_path / "b.jsonl", {**OPEN, "prompt": "[{'role': 'user', 'content': 'x'}]"})
    with pytest.raises(PolyrewardError, match="`prompt` holds messages as text"):
        asked(as_text)
    with pytest.raises(PolyrewardError, match="3600 problems") as error:
        asked(written(tmp_path / "c.jsonl", *[{"x": 1}] * 900))
    assert len(str(error.value).splitlines()) < 30


def test_ids_and_cultures_are_checked(tmp_path):
    one, other = written(tmp_path / "one.jsonl", SHORT), written(tmp_path / "other.jsonl", SHORT)
    with pytest.raises(PolyrewardError, match="two sets have a question `short-1_es`"):
        asked(one, other)
    said = "one.jsonl: has no question of ja, ko, the cultures of carb.cultures"
    with pytest.raises(PolyrewardError, match=said):
        asked(one, cultures=["ja", "ko"])
    with pytest.raises(PolyrewardError, match="`short-1_es` appears twice"):
        asked(written(tmp_path / "twice.jsonl", SHORT, SHORT))


@pytest.mark.parametrize(("reply", "number"), [
    ("B", 1), ("b", None), ("B.", 1), ("(B)", 1), ("**B. Madrid**", 1), ("B) Madrid", 1), ("B: Madrid, no París", 1),
    ("B\nRoma es Italia", 1),
    ("Madrid", 1), ("La capital es Madrid.", 1), ("La respuesta correcta es la B.", 1), ("答案是（B）。", 1), ("Answer: B", 1),
    ("La respuesta es **B**, porque", 1), ("B Madrid", 1),
    ("A Madrid la llaman la capital", 1),  # a sentence that begins with a letter
    ("Roma o Madrid", None), ("A veces", None), ("Es (A) o (B)", None), ("", None), ("…", None), ("No lo sé", None),
    ("ABBA", None),
])  # fmt: skip
def test_which_option_a_reply_chooses(reply, number):
    assert chosen_option(reply, EXAM["options"]) == number


def test_an_answer_is_rated_by_what_its_question_has():
    assert question_ratings(EXAM, "(B)")["match"] == 100 and question_ratings(EXAM, "C. París")["match"] == 0
    assert question_ratings(EXAM, "Madrid") == {"match": 100.0, "chrf": pytest.approx(100)}
    assert question_ratings(SHORT, "Mucho arroz, sobre todo")["match"] == 100
    found = question_ratings(OPEN, "Porque sí.")
    assert np.isnan(found["match"]) and found["chrf"] == pytest.approx(100)
