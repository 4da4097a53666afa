"""Translation: what survives any engine."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support import refused

from polyreward.translation.engines import UNITS, Reply, lm_rows, source_rows, translated_texts
from polyreward.translation.invariants import FENCE, broken_invariants, numbers


def each_line(translate, asked=None):
    """Make an engine of a function of one line, which notes what it is asked."""

    def engine(lines, source, target):
        if asked is not None:
            asked.append(list(lines))
        return [Reply(translate(line)) for line in lines]

    return engine


ADVERSARIES = {
    "drops digits": lambda line: "".join(c for c in line if not c.isdigit()),
    "is empty": lambda line: "",
    "adds newlines": lambda line: f"\n{line}\n\nand more\n",
    "upper-cases": str.upper,
    "reverses": lambda line: line[::-1],
    "invents placeholders": lambda line: line + " {invented}",
    "drops placeholders": lambda line: line.replace("{n}", "").replace("{place}", ""),
    "changes numbers": lambda line: line.replace("1", "2"),
    "adds a code block": lambda line: f"{line} ```x```",
    "opens a code block": lambda line: f"{line} ```",
    "chatters": lambda line: f"Sure! Here are 3 translations of {line}",
}
words = st.text("abcdefgzßéñжя한국中 ", min_size=1, max_size=8)
number_texts = st.from_regex(r"[0-9]{1,4}([.,][0-9]{1,3})?%?", fullmatch=True)
signs = st.sampled_from(["{n}", "{place}", "{", "}", "-", ".", ": "])
prose_lines = st.lists(words | number_texts | signs, max_size=6).map("".join)
fences = st.builds(
    "```{}{}```".format, st.sampled_from(["", "python\n", "\n"]), st.text("abc 12{}n\n", max_size=12)
)
texts = st.lists(prose_lines | fences | st.sampled_from(["\n", "\n\n", " \n"]), max_size=8).map("".join)


@hypothesis_settings(max_examples=300)
@given(st.lists(texts, max_size=3), st.sampled_from(sorted(ADVERSARIES)), st.sampled_from(UNITS))
def test_whatever_the_engine_says_all_invariants_hold(sources, adversary, unit):
    targets = translated_texts(sources, "es", each_line(ADVERSARIES[adversary]), unit)
    assert len(targets) == len(sources)
    for source, target in zip(sources, targets, strict=True):
        assert list(broken_invariants(source, target)) == []


def test_a_backtick_beside_a_code_block_does_not_change_it():
    (target,) = translated_texts(["Run:```x = 1```"], "es", each_line(lambda line: f"{line}`"))
    assert FENCE.findall(target) == ["```x = 1```"]


@given(texts, st.sampled_from(UNITS))
def test_an_engine_that_repeats_changes_nothing(text, unit):
    assert translated_texts([text], "es", each_line(str), unit) == [text]


def test_only_distinct_lines_of_prose_are_sent():
    asked = []
    texts = ["Hello\n```\ncode\n```\n  Hello \n42\n", "Bye\nHello"]
    assert translated_texts(texts, "it", each_line(str, asked)) == texts
    assert asked == [["Hello", "Bye"]]


STORY = "One day. Two nights!\n\n```\nOne day.\n```\nThree."


@pytest.mark.parametrize("unit", UNITS)
def test_texts_are_sent_whole_by_line_or_by_sentence(unit):
    asked = []
    done = translated_texts([STORY], "es", each_line(str.upper, asked), unit)
    assert done == ["ONE DAY. TWO NIGHTS!\n\n```\nOne day.\n```\nTHREE."]
    first = ["One day.", "Two nights!"] if unit == "sentence" else ["One day. Two nights!"]
    assert asked == [[*first, "Three."]]


def test_what_is_cut_or_broken_is_tried_again_in_smaller_parts_and_only_what_fails_there_stays():
    asked = []

    def engine(pieces, *languages):  # it is cut after 12 letters, and cannot count
        assert languages == ("en", "es")
        asked.append(list(pieces))
        return [Reply(piece.upper().replace("7", "8"), whole=len(piece) <= 12) for piece in pieces]

    source = "One day.\nTwo nights! I saw 7. Four far.\nThis one is far too long."
    done = translated_texts([source], "es", engine, "text")
    assert done == ["ONE DAY.\nTWO NIGHTS! I saw 7. FOUR FAR.\nThis one is far too long."]
    assert asked == [
        [source],
        ["One day.", "Two nights! I saw 7. Four far.", "This one is far too long."],
        ["Two nights!", "I saw 7.", "Four far."],
    ]


@pytest.mark.parametrize(("source", "target", "problem"), [
    ("a ```x``` b", "a ```y``` b", "a code block was changed"),
    ("a\nb", "a b", "1 line breaks became 0"),
    ("{n} of {m}", "{n} de", "lost {m}"),
    ("{n}", "{n} {x}", "has {x}, which is not in the source"),
    ("3 and 3", "3", "lost the number 3"),
    ("1,250.5", "1.250", "lost the number 12505"),
    ("10,000 people", "2万人", "lost the number 10000"),
    ("at 3 PM", "下午4点", "lost the number 3"),
    ("3 cats", "15只猫", "lost the number 3"),
    ("at 3:30 PM", "下午3点", "lost the number 30"),
    ("2 pm and 2 cats", "14点", "lost the number 2"),
    ("15 cats", "十六只猫", "lost the number 15"),
])  # fmt: skip
def test_each_broken_invariant_is_named(source, target, problem):
    assert list(broken_invariants(source, target)) == [problem]


@pytest.mark.parametrize(("source", "target"), [
    ("1,250.5 and {n}", "{n} y 1.250,5 y 7"), ("10,000 people", "1万人"), ("12,500 people", "1.25万人"),
    ("120 million, or 1.5 billion", "1억 2000만, 15억"), ("15 cats", "十五只猫"), ("at 3 PM", "下午15点"),
    ("at 3 PM", "a las 15:00"), ("at 3:30 p.m.", "下午3点半"), ("at 12 AM", "a las 0:00"), ("2 pm and 2 cats", "14点和2只猫"),
])  # fmt: skip
def test_numbers_may_change_place_separators_numerals_and_clock_and_be_added(source, target):
    assert list(broken_invariants(source, target)) == []
    assert numbers("1,250.5 in ```9``` {x2}") == {"12505": 1}


def test_lm_rows_translate_what_a_row_has_and_every_message_of_a_conversation():
    said = {"one": "user", "two": "assistant", "three": "user"}
    turns = [{"role": role, "content": text} for text, role in said.items()]
    rows = [
        {"id": "a", "prompt": turns, "chosen": "b", "rejected": "c"},
        {"id": "b", "prompt": "one"},
        {"id": "c", "text": "one"},
    ]
    assert source_rows(rows) == rows
    first, *others = lm_rows(rows, "es", each_line(str.upper))
    upper = [{**turn, "content": turn["content"].upper()} for turn in turns]
    assert first == {"id": "a", "prompt": upper, "chosen": "B", "rejected": "C"}
    assert others == [{"id": "b", "prompt": "ONE"}, {"id": "c", "text": "ONE"}]


@pytest.mark.parametrize("answers", [[], ["uno"], ["uno", "dos", "tres"]])
def test_an_engine_that_loses_count_is_refused(answers):
    text = refused(translated_texts, ["one\ntwo"], "es", lambda *_: answers)
    assert f"{len(answers)} lines came back for 2; it must keep their number" in text
