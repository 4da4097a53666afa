"""The questions that each culture answers in its own way, and when a reply says an accepted answer, in every
script."""

from itertools import combinations

import pytest
import yaml
from support import script
from tiny_models import ROOT

from polyreward.carb.downstream.ratings import answer_ratings, plain, says
from polyreward.core.errors import PolyrewardError

accepted_questions = script("prepare/carb_questions").accepted_questions

DATA = yaml.safe_load((ROOT / "resources/carb/questions.yaml").read_text(encoding="utf-8"))
QUESTIONS = accepted_questions(DATA, list(DATA), "questions.yaml")
DAYS_AND_MONTHS = ["Monday", "Wednesday", "March", "December", "Montag", "Dezember", "lunes", "diciembre", "понедельник",
                   "декабрь", "星期", "曜日", "十二月", "요일", "섣달", "วันจันทร์", "ธันวาคม", "thứ hai", "tháng", "الأحد",
                   "ديسمبر"]  # fmt: skip


def of(asks: str, culture: str) -> dict:
    return next(
        question
        for question in QUESTIONS
        if question["id"].startswith(f"{asks}-") and question["culture"] == culture
    )


def test_every_culture_is_asked_the_same_in_its_own_words():
    assert len(DATA) == 10 and len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    asked = {
        culture: [question["asks"] for question in entry["questions"]] for culture, entry in DATA.items()
    }
    assert set(map(tuple, asked.values())) == {
        ("mountain", "book", "first", "dog", "cock", "exam", "saying", "toast")
    }
    assert all(question["check"] for entry in DATA.values() for question in entry["questions"])
    assert len({question["prompt"] for question in QUESTIONS}) == len(QUESTIONS)


def test_no_two_cultures_share_an_answer():
    for asks in {question["asks"] for question in DATA["de"]["questions"]}:
        for one, other in combinations(DATA, 2):
            right, wrong = of(asks, one)["accepted"], of(asks, other)["accepted"]
            assert not any(answer_ratings(text, right)["match"] for text in wrong), (asks, one, other)
            assert not any(answer_ratings(text, wrong)["match"] for text in right), (asks, one, other)


def test_answers_with_known_variants():
    assert of("mountain", "de")["accepted"][0] == "Zugspitze" and "富士山" in of("mountain", "ja")["accepted"]
    assert (
        answer_ratings("Ich glaube, es ist die Zugspitze.", of("mountain", "de")["accepted"])["match"] == 100
    )
    assert answer_ratings("Der Brocken.", of("mountain", "de")["accepted"])["match"] == 0
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
    right = {"b": ["B"], "c": "C", "d": ["！"], "e": ["分"]}
    bad = [
        {"asks": "a", "prompt": "a?"},
        *({"asks": asks, "prompt": "b?", "accepted": text} for asks, text in right.items()),
    ]
    said = (
        "(?s)question 1: has no `accepted`; write it.*c: `accepted` is no list.*d: “！” has neither.*e: “分”"
        " is a single letter.*“b\\?” appears twice"
    )
    with pytest.raises(PolyrewardError, match=said):
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
