"""Drawing four answers: right once, from different cultures, at balanced positions, the same on every run."""

from collections import Counter

import pytest
from carb_data import possible, reference
from hypothesis import given
from hypothesis import strategies as st
from support import script

from polyreward.carb.items.selection import finished_items, item_problems
from polyreward.core.errors import PolyrewardError

carb_items = script("prepare/carb_items")

OWN = {"de": "w0", "ru": "w1", "ja": "w1", "zh": "w2", "ko": "w3", "es": "w4", "en": "r"}


def cell(count, **changes):
    return [possible(f"t{number}_en", **changes) for number in range(count)]


def references(count):
    return [reference(culture, value, topic=f"t{n}") for n in range(count) for culture, value in OWN.items()]


@given(count=st.integers(1, 30), seed=st.integers(0, 99))
def test_every_item_has_its_own_answer_once_and_three_values_of_other_cultures(count, seed):
    items = finished_items(cell(count), seed)
    assert {item["id"] for item in items} == {f"t{number}_en" for number in range(count)}
    assert list(item_problems(items, references(count))) == []
    for item in items:
        assert item["answers"][item["chosen"]] == "A bow."
        assert len({reference["culture"] for reference in item["references"]}) == 4
        assert all(OWN[reference["culture"]] == reference["value"] for reference in item["references"])


def test_wrong_answers_are_spread_over_cultures():
    items = finished_items(cell(40), 3)
    used = Counter(reference["culture"] for item in items for reference in item["references"])
    assert used.pop("en") == 40
    assert max(used.values()) - min(used.values()) <= 2
    assert used.total() == 120


def test_an_item_s_fields_are_the_benchmark_s():
    (item,) = finished_items(cell(1), 1)
    assert " ".join(item) == "id culture domain source topic prompt answers chosen references"
    assert all(list(reference) == ["value", "culture", "check"] for reference in item["references"])
    assert item["references"][item["chosen"]] == {"value": "r", "culture": "en", "check": "c"}


def test_the_draw_is_the_same_for_a_seed_whatever_the_order_and_another_for_another():
    items = cell(12)
    key = lambda item: item["id"]  # noqa: E731
    first, shuffled, other = (
        sorted(finished_items(*draw), key=key) for draw in ((items, 1), (items[::-1], 1), (items, 2))
    )
    assert first == shuffled != other


@given(count=st.integers(1, 30), limit=st.integers(1, 20), seed=st.integers(0, 99))
def test_so_many_items_of_each_cell_are_drawn_in_balanced_positions_and_they_are_those_of_a_larger_draw(
    count, limit, seed
):
    items = [*cell(count), *cell(3, domain="safety")]
    every, drawn = (
        {(item["id"], item["domain"]): item for item in finished_items(items, seed, n)} for n in (None, limit)
    )
    assert Counter(domain for _, domain in drawn) == {"values": min(count, limit), "safety": min(3, limit)}
    assert all(every[key] == item for key, item in drawn.items())
    for found in (every, drawn):
        for domain in ("values", "safety"):
            places = Counter(item["chosen"] for item in found.values() if item["domain"] == domain)
            assert max(places.values()) - min(places[position] for position in range(4)) <= 1


def test_the_counts_say_how_many_items_are_drawn():
    empty = dict.fromkeys(carb_items.SELECTION_COLUMNS[:-1], 0)
    counts = [{**empty, "culture": "en", "domain": domain} for domain in ("values", "safety")]
    found = carb_items.selection_counts(counts, finished_items(cell(5), 1, 2))
    assert [list(row) for row in found] == [carb_items.SELECTION_COLUMNS] * 2
    assert [row["items_drawn"] for row in found] == [2, 0]


def problems_of(item, rows=None) -> list[str]:
    return list(item_problems([item], rows or references(1)))


def test_a_value_that_is_another_culture_s_or_the_asked_one_s_is_found():
    (item,) = finished_items(cell(1), 1)
    place = (item["chosen"] + 1) % 4
    shared = item["references"][place]
    rows = [*references(1)[:-1], reference("en", shared["value"], topic="t0")]
    assert f"t0_en: answer {place} ({item['answers'][place]}) is right for en" in problems_of(item, rows)
    item["references"][place] = {**shared, "culture": "es", "value": "w9"}
    assert "t0_en: w9 is not the value of es" in problems_of(item)


def test_a_chosen_answer_that_is_not_the_culture_s_own_is_found():
    (item,) = finished_items(cell(1), 1)
    item["chosen"] = (item["chosen"] + 1) % 4
    said = problems_of(item)
    assert len(said) == 2 and any("is not right for en" in problem for problem in said)


@pytest.mark.parametrize("key", ["answers", "references"])
def test_two_equal_answers_are_found(key):
    (item,) = finished_items(cell(1), 1)
    first, second = [number for number in range(4) if number != item["chosen"]][:2]
    item[key][first] = item[key][second]
    assert "t0_en: two of its answers are the same" in problems_of(item)


COUNTS = [{"culture": "en", "domain": "values", "items": 2}]


def test_checked_items_are_given_by_culture():
    found = carb_items.checked_items(cell(2), COUNTS, references(2), ["en"], ["values"], 1, None)
    assert {culture: len(items) for culture, items in found.items()} == {"en": 2}


def test_every_empty_cell_is_named():
    with pytest.raises(PolyrewardError) as caught:
        carb_items.checked_items(cell(2), COUNTS, references(2), ["en", "de"], ["values", "safety"], 1, None)
    assert str(caught.value).startswith("carb: 3 problems\n  - en, safety: no item is left")
