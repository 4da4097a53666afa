"""The questions that each culture answers in its own way and those of files, and how answers are rated."""

import json
from itertools import combinations

import numpy as np
import pytest
from support import ROOT, refused, script

from polyreward.carb.downstream.ratings import NOTHING, chosen_option, matches, plain, question_ratings, says
from polyreward.core.yaml_files import read_yaml

questions = script("prepare/carb_questions")

OURS = str(ROOT / "resources/carb/questions.yaml")
DATA = read_yaml(OURS)
QUESTIONS = questions.accepted_questions(DATA, list(DATA), "questions.yaml")
DAYS_AND_MONTHS = ["Monday", "Wednesday", "March", "December", "Montag", "Dezember", "lunes", "diciembre", "понедельник",
                   "декабрь", "星期", "曜日", "十二月", "요일", "섣달", "วันจันทร์", "ธันวาคม", "thứ hai", "tháng", "الأحد",
                   "ديسمبر"]  # fmt: skip
AROUND = {"zh": "我想是{}吧。", "ja": "それは{}です。", "ko": "아마 {}입니다.", "th": "คงเป็น{}ครับ"}


def rated(reply: str, *accepted: str) -> dict[str, float]:
    return question_ratings({"accepted": accepted}, reply)


def test_every_culture_is_asked_the_same_in_its_own_words_and_no_two_share_an_answer():
    assert len(DATA) == 10 and len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    asked = {tuple(question["asks"] for question in entry["questions"]) for entry in DATA.values()}
    assert asked == {("mountain", "book", "first", "dog", "cock", "exam", "saying", "toast")}
    assert all(question["check"] for entry in DATA.values() for question in entry["questions"])
    assert len({question["prompt"] for question in QUESTIONS}) == len(QUESTIONS)
    for one, other in combinations(QUESTIONS, 2):
        if one["id"].split("-")[0] == other["id"].split("-")[0]:
            assert not any(matches(text, one["accepted"]) for text in other["accepted"]), (one, other)
            assert not any(matches(text, other["accepted"]) for text in one["accepted"]), (one, other)


def test_our_answers_are_found_in_sentences_and_nothing_gives_them_away():
    for question in QUESTIONS:
        shown, sentence = plain(question["shown"]), AROUND.get(question["culture"], "X: {}, y.")
        for text in question["accepted"]:
            assert plain(text) not in shown, question["id"]
            assert len(plain(text)) > 1, question["id"]  # one letter occurs in many words
            assert says(sentence.format(text), text), (question["id"], text)
        said = " ".join([question["prompt"], *question["accepted"]]).casefold()
        assert not any(name.casefold() in said for name in DAYS_AND_MONTHS), question["id"]
    german, dog = (
        next(q for q in QUESTIONS if q["id"].startswith(start)) for start in ("mountain-1_de", "dog-4_ja")
    )
    assert german["accepted"][0] == "Zugspitze"
    assert dog["shown"].endswith("問： 犬は何と鳴きますか？\n答：")


def test_a_culture_without_questions_is_named():
    error = refused(questions.accepted_questions, DATA, ["de", "fr"], "questions.yaml")
    assert "culture fr has no questions" in error


def test_bad_questions_are_named():
    right = {"a": None, "b": ["B"], "c": "C", "d": ["！"], "e": ["分"]}
    bad = [{"asks": asks, "prompt": "b?", "accepted": text} for asks, text in right.items()]
    bad.append({"asks": "f", "accepted": ["F"]})
    said = ("question 1: has no `accepted`; write it", "question 6: has no `prompt`; write it",
            "c: `accepted` is no list", "d: “！” has neither letter nor digit", "e: “分” is a single letter",
            "“b?” appears twice", "“b?” is an example too")  # fmt: skip
    entry = {**DATA["de"], "questions": bad, "examples": [["b?", "B"]]}
    error = refused(questions.accepted_questions, {"de": entry}, ["de"], "questions.yaml")
    assert [part for part in said if part not in error] == []


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
    assert (rated(reply, accepted)["match"] == 100) == right


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
    assert {(question["downstream"], question["culture"]) for question in ours} == {
        ("questions", "es"),
        ("questions", "ja"),
    }
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
        {**OPEN, "prompt": "[{'role': 'user', 'content': 'x'}]"},
    ]  # fmt: skip
    said = (
        "1: `prompt` is no text", "1: has no answer; give one of accepted, options, reference",
        "2: `options` are not 4 texts, or `right` is none of 0 to 3", "3: `options`", "4: `accepted`", "5: `reference`",
        "6: has accepted and reference", "7: `id`", "8: not JSON",
        "9: `prompt` holds messages as text (pandas writes CSV so); write plain text",
    )  # fmt: skip
    error = refused(asked, written(tmp_path / "bad.jsonl", *rows))
    assert [part for part in said if f"bad.jsonl:{part}" not in error] == []
    error = refused(asked, written(tmp_path / "c.jsonl", *[{"x": 1}] * 900))
    assert "3600 problems" in error and len(error.splitlines()) < 30


def test_a_table_with_empty_cells_is_read(tmp_path):
    (tmp_path / "a.csv").write_text(
        "id,language,prompt,reference,accepted\na,es,¿Qué?,Sí.,\n", encoding="utf-8"
    )
    (found,) = asked(str(tmp_path / "a.csv"))
    assert found["reference"] == "Sí." and "accepted" not in found


def test_ids_and_cultures_are_checked(tmp_path):
    one, other = written(tmp_path / "one.jsonl", SHORT), written(tmp_path / "other.jsonl", SHORT)
    twice = written(tmp_path / "twice.jsonl", SHORT, SHORT)
    assert "`short-1_es` appears twice" in refused(asked, one, other)
    assert "`short-1_es` appears twice" in refused(asked, twice)
    said = "one.jsonl: has no question of ja, ko, the cultures of carb.cultures"
    assert said in refused(asked, one, cultures=["ja", "ko"])


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
    assert rated("Montag", "Montag", "Sunday") == {"match": 100.0, "chrf": pytest.approx(100)}
    assert (
        rated(NOTHING, "Montag") == {"match": 0.0, "chrf": 0.0} and 0 < rated("Monta", "Montag")["chrf"] < 100
    )
    found = question_ratings(OPEN, "Porque sí.")
    assert np.isnan(found["match"]) and found["chrf"] == pytest.approx(100)
