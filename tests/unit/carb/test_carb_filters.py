"""Filters: what each removes and counts, and what it keeps."""

import pandas as pd
import pytest
from carb_data import possible, reference

from polyreward.carb.items.filters import (
    COUNT_COLUMNS,
    empty_cells,
    kept_items,
    near_duplicate,
    same_text,
)

HOME = "When they come home in the evening, they all take their"
SCRIPTS = {"en": "Latn", "de": "Latn", "ru": "Cyrl"}


def filtered_cells(*items, references=(), **near):
    """Return (kept items, counts by cell); near: {value: similarity}, 0 by default."""
    table = [
        (item["id"], answer["value"], near.get(answer["value"], 0.0))
        for item in items
        for answer in item["answers"]
    ]
    similarities = pd.DataFrame(table, columns=["id", "value", "similarity"])
    kept, counts = kept_items(items, references, similarities, SCRIPTS)
    assert all(list(row) == COUNT_COLUMNS for row in counts)
    return kept, counts


def filtered(*items, **given):
    """Return (kept items, counts above 0 of the only cell)."""
    kept, (count,) = filtered_cells(*items, **given)
    return kept, {name: number for name, number in list(count.items())[2:] if number}


def with_answer(text):
    """Return a possible item whose first wrong answer is this text."""
    item = possible()
    item["answers"][0]["text"] = text
    return item


ALL = {"references": 6, "answers": 5, "items": 1}


@pytest.mark.parametrize(
    ("text", "left", "gone"),
    [
        ("A handshake.", "01234", {}),  # as it is
        ("A bow.", "1234", {"answers_duplicate": 1}),  # the chosen answer
        ("a  BOW.", "1234", {"answers_duplicate": 1}),
        ("Ｔwo kisses.", "0234", {"answers_duplicate": 1}),  # equal to a later one, which goes instead
        ("Поклон.", "1234", {"answers_foreign": 1}),
        ("31/12", "01234", {}),
    ],
)
def test_an_answer_is_judged_by_its_text(text, left, gone):
    item = with_answer(text)
    kept, counts = filtered(item)
    assert counts == {**ALL, "answers_left": len(left), **gone}
    assert kept == [{**item, "answers": [item["answers"][int(number)] for number in left]}]


@pytest.mark.parametrize(
    ("similarity", "column"),
    [(0.98, "answers_left"), (0.981, "answers_near"), (-0.3, "answers_left"), (-0.301, "answers_far")],
)
def test_an_answer_is_judged_by_its_similarity(similarity, column):
    assert filtered(possible(), w0=similarity)[1][column] == (5 if column == "answers_left" else 1)
    other_numbers = with_answer("A bow of 15 degrees.")
    assert "answers_near" not in filtered(other_numbers, w0=similarity)[1]


def test_what_is_data_may_look_alike_but_not_be_the_same():
    words = ["On 4 July.", "On 5 July.", "On 6 July.", "On 4 July.", "on  7 July."]
    answers = [{**answer, "text": text} for answer, text in zip(possible()["answers"], words, strict=True)]
    item = possible(is_fact=True, chosen={"value": "r", "check": "c", "text": "On 7 July."}, answers=answers)
    _, counts = filtered(item, w0=0.99)
    assert counts == {**ALL, "answers_duplicate": 2, "answers_left": 3}
    assert filtered(item, w0=-0.99)[1]["answers_far"] == 1


def test_an_item_with_two_wrong_answers_is_short():
    item = possible(answers=possible()["answers"][:3])
    assert filtered(item)[1]["items"] == 1
    kept, counts = filtered(item, w2=0.99)
    assert kept == [] and counts == {
        "references": 4,
        "answers": 3,
        "answers_near": 1,
        "answers_left": 2,
        "topics_short": 1,
    }


@pytest.mark.parametrize(
    "change", [{"prompt": "Что?"}, {"chosen": {"value": "r", "check": "c", "text": "Поклон."}}]
)
def test_an_item_in_a_foreign_script_goes(change):
    kept, counts = filtered(possible(**change))
    assert (kept, counts) == ([], {"references": 6, "answers": 5, "topics_foreign": 1})


def test_an_item_that_repeats_another_of_its_culture_goes():
    again = possible("u_en", prompt="what about T_EN?")
    kept, counts = filtered(possible(), again)
    assert ([item["id"] for item in kept], counts["topics_repeated"], counts["items"]) == (["t_en"], 1, 1)
    again["chosen"]["text"] = "A curtsy."
    assert len(filtered(possible(), again)[0]) == 2


def test_shared_references_and_ambiguous_topics_are_counted_per_culture_and_domain():
    rows = [reference("en", "r"), reference("en", None, topic="u")]
    _, counts = filtered(possible(shared=["fr", "it"]), references=rows)
    assert counts == {
        **ALL,
        "topics": 2,
        "topics_ambiguous": 1,
        "references": 8,
        "references_shared": 2,
        "answers_left": 5,
    }
    items = [possible(), possible("t_de", culture="de"), possible("u_en", domain="safety")]
    _, counts = filtered_cells(*items)
    cells = [(row["culture"], row["domain"], row["items"]) for row in counts]
    assert cells == [("en", "values", 1), ("de", "values", 1), ("en", "safety", 1)]


def test_an_empty_cell_is_an_error_that_names_what_removed_its_items():
    _, good = filtered_cells(possible())
    assert list(empty_cells(good, ["en"], ["values"])) == []
    changes = {"items": 0, "topics": 3, "topics_short": 3, "answers": 9, "answers_near": 9, "answers_left": 0}
    removed = "topics 3, topics_short 3, references 6, answers 9, answers_near 9"
    assert list(empty_cells([{**good[0], **changes}], ["en", "de"], ["values"])) == [
        f"{cell}: no item is left ({why}); write more topics"
        for cell, why in (("en, values", removed), ("de, values", "no topic"))
    ]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (f"{HOME} shoes off.", f"{HOME} shoe off!", True),
        (f"{HOME} shoes off.", f"{HOME} shoes on.", False),
        (f"{HOME} 10 shoes off.", f"{HOME} 20 shoes off.", False),  # a number is a fact
        (f"{HOME} 10 shoes off.", f"{HOME} 10 shoe off.", True),
    ],
)
def test_near_duplicates_are_alike_in_letters_and_equal_in_digits(one, other, alike):
    assert near_duplicate(one, other) == near_duplicate(other, one) == alike


def test_the_same_text_is_the_same_in_any_case_width_and_spacing():
    assert same_text("１ Ｋiss\u00a0here", "1  kiss here") and not same_text("31/12", "31.12")
