"""Parts of data that are drawn by hash."""

import pytest

from polyreward.core.draws import drawn, in_draw_order, in_every_language

ROWS = [{"id": f"{domain}-{n}", "domain": domain} for n in range(10) for domain in ("values", "safety")]


@pytest.mark.parametrize("seed", [1, 2])
def test_at_most_so_many_rows_of_a_group_are_drawn_and_more_hold_fewer(seed):
    few, many = drawn(ROWS, ["domain"], 2, seed, "x"), drawn(ROWS, ["domain"], 5, seed, "x")
    assert [row["domain"] for row in few].count("values") == 2 and len(few) == 4 and len(many) == 10
    assert all(row in many for row in few)
    assert drawn(ROWS[::-1], ["domain"], 2, seed, "x") == few[::-1]
    assert drawn(ROWS, ["domain"], None, seed, "x") == ROWS


def test_a_group_may_be_of_several_columns_and_smaller_than_asked_for():
    rows = [
        {"id": culture + domain, "culture": culture, "domain": domain} for culture in "ab" for domain in "cd"
    ]
    assert drawn(rows, ["culture"], 1, 1, "x") != rows
    assert drawn(rows, ["culture", "domain"], 3, 1, "x") == rows


def test_another_seed_or_purpose_draws_other_rows():
    first = drawn(ROWS, ["domain"], 3, 1, "x")
    assert first != drawn(ROWS, ["domain"], 3, 2, "x")
    assert first != drawn(ROWS, ["domain"], 3, 1, "y")


def test_rows_in_the_order_of_the_draw_begin_with_those_that_are_drawn():
    ordered = in_draw_order(ROWS, 1, "x")
    assert sorted(row["id"] for row in ordered) == sorted(row["id"] for row in ROWS)
    assert {row["id"] for row in ordered[:6]} == {row["id"] for row in drawn(ROWS, [], 6, 1, "x")}


def test_rows_of_every_language_are_those_whose_ids_all_have_in_each_s_own_order():
    rows = {
        "en": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        "fr": [{"id": "c", "text": "trois"}, {"id": "a", "text": "un"}],
    }
    assert in_every_language(rows) == {"en": [{"id": "a"}, {"id": "c"}], "fr": rows["fr"]}
