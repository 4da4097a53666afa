"""Criteria of the warm-up's replies."""

import pytest
import yaml
from locals_data import CULTURES, DOMAINS, EASY, ITEMS, item
from support import script
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.criteria_layout import Reply, read_reply, written
from polyreward.think_as_locals.rewards import names_an_answer

locals_pairs = script("prepare/locals_pairs")

at_once = script("train/locals_warmup").at_once


@pytest.fixture(scope="module")
def templates():
    return locals_pairs.read_criteria(ROOT / "resources/carb/criteria.yaml", CULTURES, DOMAINS)


@pytest.fixture(scope="module")
def places():
    cultures = yaml.safe_load((ROOT / "resources/carb/cultures.yaml").read_text(encoding="utf-8"))["cultures"]
    return {culture: entry["places"] for culture, entry in cultures.items()}


def test_every_criterion_in_every_language_and_place_makes_a_reply_in_form(templates, places):
    for language, of_language in templates.items():
        for line in [line for lines in of_language.values() for line in lines]:
            for place in places.values():
                criterion = line.replace("{place}", place[language])
                assert read_reply(written([criterion, criterion], "A"), ended=True) == Reply(
                    (criterion, criterion), "A"
                )


def test_a_criterion_names_the_item_s_own_place(templates, places):
    asked = locals_pairs.both_orders(locals_pairs.training_pairs([item("tea", "ja")]))[0]
    assert "in Japan" in locals_pairs.criterion_of(asked, templates, places, "en", 1)
    assert "in Japan" in locals_pairs.criterion_of(asked, templates, places, "de", 1)


def test_a_pair_of_no_culture_gets_a_criterion_that_holds_anywhere(templates, places):
    rows = locals_pairs.warmup_rows(EASY[:1], templates, places, None, 0, 1)
    assert [read_reply(row["chosen"], ended=True).verdict for row in rows] == ["A", "B"]
    assert {read_reply(row["chosen"], ended=True).criteria[0] for row in rows} <= set(
        templates["en"]["anywhere"]
    )


def test_the_warm_up_has_right_replies_in_form_in_both_orders(templates, places):
    rows = locals_pairs.warmup_rows(locals_pairs.training_pairs(ITEMS), templates, places, None, 0, 1)
    assert len(rows) == 2 * 48
    read = [read_reply(row["chosen"], ended=True) for row in rows]
    assert [reply.verdict for reply in read] == ["A", "B"] * 48
    assert len({reply.criteria for reply in read}) > 10
    assert locals_pairs.warmup_rows(locals_pairs.training_pairs(ITEMS), templates, places, "en", 0, 1) != rows
    assert [read_reply(row["chosen"], True, criteria_wanted=False) for row in at_once(rows)] == [
        Reply((), verdict) for verdict in ["A", "B"] * 48
    ]


def test_the_last_criterion_names_the_right_answer_and_its_label(templates, places):
    pairs = locals_pairs.training_pairs([item("tea", "ja")])[:1]
    first, second = locals_pairs.warmup_rows(pairs, templates, places, "en", 60, 1)
    assert first["chosen"].endswith(" in Japan: tea of ja (A)\nVerdict: A") and second["chosen"].endswith(
        "tea of ja (B)\nVerdict: B"
    )
    assert read_reply(second["chosen"], ended=True).verdict == "B"
    rows = locals_pairs.warmup_rows(locals_pairs.training_pairs(ITEMS), templates, places, None, 24, 1)
    assert all(names_an_answer(read_reply(row["chosen"], ended=True), row["prompt"], 24) for row in rows)


@pytest.mark.parametrize(
    ("text", "most", "end"),
    [
        ("Fewer than 20.", 20, "Fewer than 20."),
        ("One line,\n\nand another.", 40, "One line, and another."),
        ("The people elect the head of state for six years.", 20, "for six years."),
        ("全国に同じ額が時給で定められている。", 8, "定められている。"),
        ("unbroken-word-of-many-letters x", 20, "ord-of-many-letters x"[-20:]),
    ],
)
def test_a_long_answer_is_named_by_its_end(text, most, end):
    assert locals_pairs.ending(text, most) == end


def test_every_gap_in_the_criteria_is_named(tmp_path):
    text = "en: {values: [no place, '{place} and {place}'], anywhere: ['here {place}']}\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PolyrewardError) as error:
        locals_pairs.read_criteria(tmp_path / "c.yaml", ["en", "de"], ["values"])
    message = str(error.value)
    assert "language de: no criteria of values" in message
    assert (
        "'here {place}' has {place} 1 times; leave it out" in message
        and "language de: no criteria of anywhere" in message
    )
    assert "'no place' has {place} 0 times" in message and "has {place} 2 times" in message
