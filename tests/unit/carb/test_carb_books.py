"""Open books: the prompt holds the four answers with their places, in one order in every language."""

import pytest
from support import ROOT

from polyreward.carb.culture.books import BOOK, BOOKS, FALSE, LABELLED, open_books
from polyreward.carb.culture.quartets import Quartet, Wording, quartet_rows, scale_quartets, unplaced_row
from polyreward.prepare.topics import FACT, FORMAT
from polyreward.sheet.data import quartet_choices
from polyreward.sheet.entries import read_models

PLACES, ANSWERS = ["in A", "in B", "in C", "in D"], ["a.", "b.", "c.", "d."]


def quartet(topic, kind=FACT, number=1):
    wordings = {
        "en": Wording("What is eaten {place}?", PLACES, ANSWERS),
        "ja": Wording("{place}, what?", PLACES, ANSWERS, "{Place}、{answer}"),
    }
    return Quartet(f"{topic}-{number}", topic, "d", kind, list("ABCD"), wordings)


def rows(kind, language="en"):
    (found,) = [one for one in open_books([quartet("t")], frozenset(), 1, 1) if one.kind == kind]
    return [*quartet_rows(found, language), unplaced_row(found, language)]


def book_of(row):
    return row["prompt"].split("\n")[:-1]


def test_the_book_has_each_place_with_its_answer_before_the_question():
    *placed, without = rows(BOOK)
    assert sorted(book_of(placed[0])) == ["In A: a.", "In B: b.", "In C: c.", "In D: d."]
    assert {tuple(book_of(row)) for row in [*placed, without]} == {tuple(book_of(placed[0]))}
    assert [row["prompt"].split("\n")[-1] for row in placed] == [
        f"What is eaten in {name}?" for name in "ABCD"
    ]
    assert without["prompt"].split("\n")[-1] == "What is eaten?"
    assert all(row["answers"] == ANSWERS for row in placed) and [row["chosen"] for row in placed] == [
        0,
        1,
        2,
        3,
    ]


def test_a_labelled_answer_names_the_place_that_is_asked_about_as_the_book_does():
    *placed, without = rows(LABELLED)
    assert placed[1]["answers"] == ["In B: a.", "In B: b.", "In B: c.", "In B: d."]
    assert placed[1]["answers"][placed[1]["chosen"]] in book_of(placed[1])
    assert not {placed[1]["answers"][n] for n in (0, 2, 3)} & set(book_of(placed[1]))
    assert without["answers"] == ANSWERS


def test_a_false_book_is_right_against_the_facts():
    false, true = rows(FALSE), rows(BOOK)
    assert sorted(book_of(false[0])) == ["In A: b.", "In B: c.", "In C: d.", "In D: a."]
    for moved, original in zip(false[:4], true[:4], strict=True):
        assert moved["prompt"].split("\n")[-1] == original["prompt"].split("\n")[-1]
        assert moved["answers"][moved["chosen"]] != original["answers"][original["chosen"]]
        assert f"In {moved['place']}: {moved['answers'][moved['chosen']]}" in book_of(moved)


def test_lines_are_in_one_order_in_all_languages_in_the_language_s_own_frame():
    english, japanese = (book_of(rows(BOOK, language)[0]) for language in ("en", "ja"))
    assert [line.replace("、", ": ") for line in japanese] == english
    many = open_books([quartet(f"t{n}") for n in range(20)], frozenset(), 20, 1)
    orders = [book_of(next(quartet_rows(one, "en"))) for one in many if one.kind == BOOK]
    assert len({tuple(order) for order in orders}) > 10  # of the 24 that there are


def test_books_are_of_facts_that_are_not_taught_one_quartet_of_each_topic():
    quartets = [quartet(f"t{n}", number=number) for n in range(8) for number in (1, 2)] + [
        quartet("f", FORMAT)
    ]
    found = open_books(quartets, frozenset({"t0", "t1"}), 4, 1)
    topics = list(dict.fromkeys(one.topic for one in found))
    assert len(topics) == 4 and not {"t0", "t1", "f"} & set(topics)
    assert [one.kind for one in found] == list(BOOKS) * 4
    assert len({one.name for one in found}) == 12 and all(
        one.name.startswith(f"{one.topic}-1-") for one in found
    )
    assert open_books(quartets, frozenset(), 0, 1) == []
    assert topics != list(
        dict.fromkeys(one.topic for one in open_books(quartets, frozenset({"t0", "t1"}), 4, 2))
    )


@pytest.mark.parametrize("language", ["en", "es", "ko", "zh"])
def test_each_answer_of_scale_night_is_in_its_book_once(language):
    settings = read_models(["workflow/scales/night.yaml"], ROOT).settings
    schema = ROOT / "workflow/schemas/carb_topics.schema.yaml"
    quartets, _ = scale_quartets(
        quartet_choices(settings), ROOT / settings.carb.culture_file, ROOT / settings.carb.topics, schema, 42
    )
    for one in open_books(quartets, frozenset(), 12, 42):
        for row in quartet_rows(one, language):
            lines = row["prompt"].split("\n")
            assert len(lines) == 5 and lines[4] and all(lines)
            right = row["answers"][row["chosen"]]
            assert sum(right in line for line in lines[:4]) == 1, row
