"""The layout of a judge's replies, and its reader."""

import pytest
from locals_data import GOOD

from polyreward.scoring.criteria_layout import LABELS, MOST, Reply, question, read_reply, written

READABLE = {
    GOOD: (("It fits everyday life in Germany.", "What is usual in Japan does not count here."), "B"),
    "1. x\nVerdict: A": (("x",), "A"),
    "\n 1. x\nVerdict: A \n": (("x",), "A"),
    "1.  Zwei  Wörter \nVerdict: A": (("Zwei  Wörter",), "A"),
    "1. A is better\nVerdict: B": (("A is better",), "B"),
    "1. A\nVerdict: B": (("A",), "B"),
    "1. a\u2028b\nVerdict: B": (("a\u2028b",), "B"),
    "1. x\n\n\nVerdict: A": (("x",), "A"),
    "**1. x**\n\n**Verdict: B**": (("x",), "B"),
    "1. x\n**Verdict:** A": (("x",), "A"),
    "1. x\n*Verdict: A*": (("x",), "A"),
    "> 1. x\n> `Verdict: B`": (("x",), "B"),
    "## Criteria\n1. x\n## Verdict\nB": (("x",), "B"),
    "Criteria:\n1. x\nVerdict: A": (("x",), "A"),
    "What a local checks:\n1) x\n2) y\nverdict: a.": (("x", "y"), "A"),
    "- x\nVerdict: [[A]]": (("x",), "A"),
    "* x\n* y\n\nVerdict - [B]": (("x", "y"), "B"),
    "(1) x\nVerdict: (b)": (("x",), "B"),
    "1、甲。\nVerdict：Ａ。": (("甲。",), "A"),
    "1. x\nVerdict: “A”": (("x",), "A"),
    "1. x\nVerdict A": (("x",), "A"),
    "1. x\nThe verdict is A.": (("x",), "A"),
    "1. x\nFinal verdict: Answer B": (("x",), "B"),
    "1. x Verdict: A": (("x",), "A"),
    "1. x\nA": (("x",), "A"),
    "1. x\n[[B]]": (("x",), "B"),
    "1. x\nAnswer: B.": (("x",), "B"),
    "1. x\nVerdict: A\nVerdict: A": (("x",), "A"),
    "1. x\nVerdict: A\nI am sure.": (("x",), "A"),
    "1. x\nVerdict: B, since a local says so.": (("x",), "B"),
    "1. The verdict depends on law.\n2. y\nVerdict: B": (("The verdict depends on law.", "y"), "B"),
    "2. x\n4. y\nVerdict: A": (("x", "y"), "A"),
    "It is usual there.\nVerdict: A": (("It is usual there.",), "A"),
    "\n".join(f"{n}. c" for n in range(1, MOST + 2)) + "\nVerdict: A": (("c",) * (MOST + 1), "A"),
}
# {reply: (what it says before the place of a verdict, what is wrong)}
UNREADABLE = {
    "": ((), "no verdict"),
    "1. x": (("x",), "no verdict"),
    "1. B": (("B",), "no verdict"),
    "1. x\nAbove all": (("x", "Above all"), "no verdict"),
    "1. x\nVerdict:": (("x",), "no verdict"),
    "1. x\nVerdict: C": (("x",), "no verdict"),
    "1. x\nVerdict: AB": (("x",), "no verdict"),
    "1. x\nVerdict: banana": (("x",), "no verdict"),
    "1. x\nVerdict: A or B": (("x",), "no verdict"),
    "1. x\nVerdict: A, B": (("x",), "no verdict"),
    "1. x\nVerdict: A because B is foreign": (("x",), "no verdict"),
    "1. x\nVerdict: A\nVerdict: B": (("x",), "several verdicts"),
    "1. x\nVerdict: A Verdict: B": (("x",), "several verdicts"),
    "1. The Verdict: is B\nVerdict: A": ((), "several verdicts"),
    "A": ((), "no criteria"),
    "Verdict: A": ((), "no criteria"),
    "1. \nVerdict: A": ((), "no criteria"),
    "Criteria:\nVerdict: A": ((), "no criteria"),
    "Verdict: A\n1. x": ((), "no criteria"),
}


@pytest.mark.parametrize(("text", "read"), READABLE.items())
def test_a_reply_is_read_as_a_person_would(text, read):
    assert read_reply(text, ended=True) == Reply(*read)


@pytest.mark.parametrize(("text", "read"), UNREADABLE.items())
def test_what_names_no_single_label_is_not_guessed_at(text, read):
    criteria, fault = read
    assert read_reply(text, ended=True) == Reply(criteria, fault=fault)


@pytest.mark.parametrize("text", [GOOD, "1. x\n2. y\n3. and so on", *UNREADABLE])
def test_what_was_cut_off_is_endless_even_after_a_verdict(text):
    found = read_reply(text, ended=False)
    assert (found.verdict, found.fault) == (None, "endless")
    assert found.criteria == read_reply(text, ended=True).criteria


def test_a_verdict_alone_is_in_form_where_no_criteria_are_wanted():
    assert read_reply("Verdict: A", ended=True, criteria_wanted=False) == Reply((), "A")
    assert read_reply("Verdict:", ended=True, criteria_wanted=False) == Reply(fault="no verdict")


def test_what_is_written_is_read_again():
    for verdict in LABELS:
        criteria = ("Первое.", "二つ目。", "ثالثًا")
        assert read_reply(written(criteria, verdict), ended=True) == Reply(criteria, verdict)
    assert written((), "A") == "Verdict: A"


@pytest.mark.parametrize("braces", ["{", "}", "{prompt}", "{first} {most}", "\\1 %s"])
def test_a_question_holds_its_texts_as_they_are(braces):
    asked = question(f"p{braces}p", f"a{braces}a", f"b{braces}b")
    assert asked.startswith(f"p{braces}p\n\nAnswer A: a{braces}a (A)\nAnswer B: b{braces}b (B)\n\n")
    assert f"one to {MOST} numbered criteria" in asked


def test_a_conversation_is_asked_about_whole():
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    assert question(turns, "x", "y").startswith("system: Be brief.\nuser: Hello\n")
