"""Criteria of the warm-up's replies."""

from itertools import chain, product

import pytest
from locals_data import CULTURES, DOMAINS, EASY, ITEMS, item
from support import ROOT, script

from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.criteria_layout import Reply, read_reply, written
from polyreward.think_as_locals.rewards import names_an_answer

locals_pairs = script("prepare/locals_pairs")
at_once = script("train/locals_warmup").at_once


@pytest.fixture(scope="module")
def templates():
    return locals_pairs.read_criteria(ROOT / "resources/carb/criteria.yaml", CULTURES, DOMAINS)


@pytest.fixture(scope="module")
def places():
    cultures = read_yaml(ROOT / "resources/carb/cultures.yaml")["cultures"]
    return {culture: entry["places"] for culture, entry in cultures.items()}


@pytest.fixture(scope="module")
def rows_of(templates, places):
    """Return a function from pairs, the language and the length of quotes to the warm-up's rows."""

    def rows_of(pairs, language=None, quote=0):
        return locals_pairs.warmup_rows(pairs, templates, places, language, quote, 1)

    return rows_of


def test_every_criterion_in_every_language_and_place_makes_a_reply_in_form(templates, places):
    for language, of_language in templates.items():
        for line, place in product(chain(*of_language.values()), places.values()):
            twice = (line.replace("{place}", place[language]),) * 2
            assert read_reply(written(twice, "A"), ended=True) == Reply(twice, "A")


def test_a_criterion_names_the_item_s_own_place(templates, places):
    asked = locals_pairs.both_orders(locals_pairs.training_pairs([item("tea", "ja")]))[0]
    for language in ("en", "de"):
        assert "in Japan" in locals_pairs.criterion_of(asked, templates, places, language, 1)


def test_a_pair_of_no_culture_gets_a_criterion_that_holds_anywhere(rows_of, templates):
    replies = [read_reply(row["chosen"], ended=True) for row in rows_of(EASY[:1])]
    assert [reply.verdict for reply in replies] == ["A", "B"]
    assert {reply.criteria[0] for reply in replies} <= set(templates["en"]["anywhere"])


def test_the_warm_up_has_right_replies_in_form_in_both_orders(rows_of):
    pairs = locals_pairs.training_pairs(ITEMS)
    rows = rows_of(pairs)
    read = [read_reply(row["chosen"], ended=True) for row in rows]
    assert [reply.verdict for reply in read] == ["A", "B"] * 48
    assert len({reply.criteria for reply in read}) > 10
    assert rows_of(pairs, "en") != rows
    short = [read_reply(row["chosen"], True, criteria_wanted=False) for row in at_once(rows)]
    assert short == [Reply((), verdict) for verdict in ["A", "B"] * 48]


def test_the_last_criterion_names_the_right_answer_and_its_label(rows_of):
    first, second = rows_of(locals_pairs.training_pairs([item("tea", "ja")])[:1], "en", 60)
    assert first["chosen"].endswith(" in Japan: tea of ja (A)\nVerdict: A")
    assert second["chosen"].endswith("tea of ja (B)\nVerdict: B")
    assert read_reply(second["chosen"], ended=True).verdict == "B"
    rows = rows_of(locals_pairs.training_pairs(ITEMS), quote=24)
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
    said = (
        "language de: no criteria of values", "language de: no criteria of anywhere", "'no place' has {place} 0 times",
        "has {place} 2 times", "'here {place}' has {place} 1 times; leave it out",
    )  # fmt: skip
    assert [text for text in said if text not in str(error.value)] == []
