"""Drawing four answers: right once, from different cultures, at balanced positions, the same on every run."""

from collections import Counter

import pandas as pd
import pytest
from carb_data import possible, reference
from hypothesis import given
from hypothesis import strategies as st
from support import refused, script

from polyreward.carb.items.selection import finished_items, item_problems

carb_items = script("prepare/carb_items")

OWN = {"de": "w0", "ru": "w1", "ja": "w1", "zh": "w2", "ko": "w3", "es": "w4", "en": "r"}


def cell(count, **changes):
    return [possible(f"t{number}_en", **changes) for number in range(count)]


def references(count, domain="values"):
    numbers = range(count)
    return [reference(of, value, topic=f"t{n}", domain=domain) for n in numbers for of, value in OWN.items()]


@given(count=st.integers(1, 30), seed=st.integers(0, 99))
def test_every_item_has_its_own_answer_once_and_three_values_of_other_cultures(count, seed):
    items = finished_items(cell(count), seed)
    assert {item["id"] for item in items} == {f"t{number}_en" for number in range(count)}
    assert list(item_problems(items, references(count))) == []
    for item in items:
        assert item["answers"][item["chosen"]] == "A bow."
        assert len({reference["culture"] for reference in item["references"]}) == 4
        assert all(OWN[reference["culture"]] == reference["value"] for reference in item["references"])


def test_wrong_answers_are_spread_over_cultures_and_the_fields_are_the_benchmark_s():
    items = finished_items(cell(40), 3)
    used = Counter(reference["culture"] for item in items for reference in item["references"])
    assert used.pop("en") == 40 and used.total() == 120
    assert max(used.values()) - min(used.values()) <= 2
    item = items[0]
    assert " ".join(item) == "id culture domain source topic prompt answers chosen references"
    assert all(list(reference) == ["value", "culture", "check"] for reference in item["references"])
    assert item["references"][item["chosen"]] == {"value": "r", "culture": "en", "check": "c"}


def test_the_draw_is_the_same_for_a_seed_whatever_the_order_and_another_for_another():
    items = cell(12)
    draws = [finished_items(items, 1), finished_items(items[::-1], 1), finished_items(items, 2)]
    first, shuffled, other = (sorted(draw, key=lambda item: item["id"]) for draw in draws)
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


def problems_of(item, rows=None) -> list[str]:
    return list(item_problems([item], rows or references(1)))


def test_a_value_of_another_culture_or_of_the_asked_one_and_a_wrong_chosen_answer_are_found():
    (item,) = finished_items(cell(1), 1)
    place = (item["chosen"] + 1) % 4
    shared = item["references"][place]
    rows = [*references(1)[:-1], reference("en", shared["value"], topic="t0")]
    assert f"t0_en: answer {place} ({item['answers'][place]}) is right for en" in problems_of(item, rows)
    said = problems_of({**item, "chosen": place})
    assert len(said) == 2 and any("is not right for en" in problem for problem in said)
    item["references"][place] = {**shared, "culture": "es", "value": "w9"}
    assert "t0_en: w9 is not the value of es" in problems_of(item)


@pytest.mark.parametrize("key", ["answers", "references"])
def test_two_equal_answers_are_found(key):
    (item,) = finished_items(cell(1), 1)
    first, second = [number for number in range(4) if number != item["chosen"]][:2]
    item[key][first] = item[key][second]
    assert "t0_en: two of its answers are the same" in problems_of(item)


def test_items_are_built_and_counted_and_every_empty_cell_is_named():
    items = cell(9)
    similar = pd.DataFrame([(item["id"], answer["value"], 0.0) for item in items for answer in item["answers"]],
                           columns=["id", "value", "similarity"])  # fmt: skip
    rows = (references(9), items, similar)
    scripts = {"en": "Latn"}
    found, counts = carb_items.built_items(*rows, carb_items.Expected(scripts, scripts, ["values"]), 2, 1)
    assert len(found) == 2 and list(counts.columns) == carb_items.SELECTION_COLUMNS
    en = counts.set_index("culture").loc["en"]
    assert (en["topics"], en["items"], en["items_drawn"]) == (7, 7, 2)  # two of nine are held out
    expected = carb_items.Expected({"en": "", "de": ""}, {"en": "Latn", "de": "Latn"}, ["values", "safety"])
    error = refused(carb_items.built_items, *rows, expected, None, 1)
    assert error.startswith("carb: 3 problems\n  - en, safety: no item is left")
