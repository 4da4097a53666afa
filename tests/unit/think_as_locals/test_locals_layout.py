"""The layout of a judge's replies, and its reader."""

from itertools import chain

import pytest
from locals_data import GOOD

from polyreward.scoring.criteria_layout import LABELS, MOST, Reply, question, read_reply, written

READABLE = {  # {(criteria, verdict): replies}
    (("It fits everyday life in Germany.", "What is usual in Japan does not count here."), "B"): [GOOD],
    (("x",), "A"): [
        "1. x\nVerdict: A", "\n 1. x\nVerdict: A \n", "1. x\n\n\nVerdict: A", "1. x\n**Verdict:** A", "- x\nVerdict: [[A]]",
        "Criteria:\n1. x\nVerdict: A", "1. x\nVerdict: “A”", "1. x\nVerdict A", "1. x\nThe verdict is A.", "1. x Verdict: A",
        "1. x\nA", "1. x\nVerdict: A\nVerdict: A", "1. x\nVerdict: A\nI am sure.", "1. x\n*Verdict: A*",
    ],
    (("x",), "B"): [
        "**1. x**\n\n**Verdict: B**", "> 1. x\n> `Verdict: B`", "## Criteria\n1. x\n## Verdict\nB", "(1) x\nVerdict: (b)",
        "1. x\nFinal verdict: Answer B", "1. x\n[[B]]", "1. x\nAnswer: B.", "1. x\nVerdict: B, since a local says so.",
    ],
    (("x", "y"), "A"): ["What a local checks:\n1) x\n2) y\nverdict: a.", "2. x\n4. y\nVerdict: A"],
    (("x", "y"), "B"): ["* x\n* y\n\nVerdict - [B]"],
    (("Zwei  Wörter",), "A"): ["1.  Zwei  Wörter \nVerdict: A"],
    (("A is better",), "B"): ["1. A is better\nVerdict: B"],
    (("A",), "B"): ["1. A\nVerdict: B"],
    (("a\u2028b",), "B"): ["1. a\u2028b\nVerdict: B"],
    (("甲。",), "A"): ["1、甲。\nVerdict：Ａ。"],
    (("The verdict depends on law.", "y"), "B"): ["1. The verdict depends on law.\n2. y\nVerdict: B"],
    (("It is usual there.",), "A"): ["It is usual there.\nVerdict: A"],
    (("c",) * (MOST + 1), "A"): ["\n".join(f"{n}. c" for n in range(1, MOST + 2)) + "\nVerdict: A"],
}  # fmt: skip
UNREADABLE = {  # {(what it says before the place of a verdict, what is wrong): replies}
    ((), "no verdict"): [""],
    (("x",), "no verdict"): [
        "1. x", "1. x\nVerdict:", "1. x\nVerdict: C", "1. x\nVerdict: AB", "1. x\nVerdict: banana", "1. x\nVerdict: A or B",
        "1. x\nVerdict: A, B", "1. x\nVerdict: A because B is foreign",
    ],
    (("B",), "no verdict"): ["1. B"],
    (("x", "Above all"), "no verdict"): ["1. x\nAbove all"],
    (("x",), "several verdicts"): ["1. x\nVerdict: A\nVerdict: B", "1. x\nVerdict: A Verdict: B"],
    ((), "several verdicts"): ["1. The Verdict: is B\nVerdict: A"],
    ((), "no criteria"): ["A", "Verdict: A", "1. \nVerdict: A", "Criteria:\nVerdict: A", "Verdict: A\n1. x"],
}  # fmt: skip


def cases(table):
    """Return every reply of a table with how it is to be read."""
    return [(text, read) for read, texts in table.items() for text in texts]


@pytest.mark.parametrize(("text", "read"), cases(READABLE))
def test_a_reply_is_read_as_a_person_would(text, read):
    assert read_reply(text, ended=True) == Reply(*read)


@pytest.mark.parametrize(("text", "read"), cases(UNREADABLE))
def test_what_names_no_single_label_is_not_guessed_at(text, read):
    criteria, fault = read
    assert read_reply(text, ended=True) == Reply(criteria, fault=fault)


@pytest.mark.parametrize("text", [GOOD, "1. x\n2. y\n3. and so on", *chain(*UNREADABLE.values())])
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
