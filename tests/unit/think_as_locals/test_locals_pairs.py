"""Pairs that judges are trained on, who gets which, and the replies of the warm-up."""

from collections import Counter
from itertools import chain, product

import pytest
from locals_data import CULTURES, DOMAINS, EASY, ITEMS, item
from support import ROOT, refused, script

from polyreward.core.yaml_files import read_yaml
from polyreward.scoring.criteria_layout import Reply, question, read_reply, written
from polyreward.think_as_locals.rewards import names_an_answer

locals_pairs = script("prepare/locals_pairs")
at_once = script("train/locals_warmup").at_once
both_orders, training_pairs = locals_pairs.both_orders, locals_pairs.training_pairs
PAIRS = training_pairs(ITEMS)
NO_SHARES = {"shares": {}, "easy_shares": {"warmup": 0.0, "grpo": 0.0}}


def split(own=PAIRS, others=(), easy=(), *, seed=1, held_out=0, **how):
    """Split pairs, and assert that none is in two parts."""
    found = locals_pairs.split_pairs(own, others, easy, held_out=held_out, seed=seed, **{**NO_SHARES, **how})
    ids = [pair["id"] for of_use in found.values() for pair in of_use]
    assert len(ids) == len(set(ids))
    return found


def test_an_item_makes_three_pairs_and_each_is_in_both_orders():
    pairs = PAIRS[:3]
    assert pairs[0] == {
        "id": "commonsense-0_de_ar", "prompt": "What is commonsense-0 in de?", "chosen": "commonsense-0 of de",
        "rejected": "commonsense-0 of ar", "culture": "de", "language": "de", "topic": "commonsense-0", "domain": "commonsense",
    }  # fmt: skip
    first, second = both_orders(pairs[:1])
    assert (first["right"], second["right"]) == ("A", "B")
    assert first["request"] == question(pairs[0]["prompt"], pairs[0]["chosen"], pairs[0]["rejected"])
    assert second["request"] == question(pairs[0]["prompt"], pairs[0]["rejected"], pairs[0]["chosen"])
    assert len({asked["id"] for asked in both_orders(pairs)}) == 6


def test_pairs_are_split_by_their_hashes_only():
    found = split(warmup=10, grpo=20)
    assert {use: len(own) for use, own in found.items()} == {"warmup": 10, "grpo": 20, "held_out": 0}
    assert split(PAIRS[::-1], warmup=10, grpo=20) == found
    assert split(warmup=10, grpo=20, seed=2) != found
    for sizes, said in (
        (
            {"warmup": 49, "grpo": 1},
            "think_as_locals.warmup.pairs: 48 pairs to train on, but 49 are asked for",
        ),
        ({"warmup": 40, "grpo": 20}, "think_as_locals.grpo.pairs: 8 pairs to train on, but 20 are asked for"),
    ):
        assert said in refused(split, **sizes)


def test_datasets_join_grpo_only():
    rows = [{"id": name, "prompt": "p", "chosen": "c", "rejected": texts} for name, texts in (("h1", ["r", "s"]), ("h2", "r"))]  # fmt: skip
    others = locals_pairs.dataset_pairs(rows)
    found = [(pair["id"], pair["rejected"]) for pair in others]
    assert found == [("h1_0", "r"), ("h1_1", "s"), ("h2_0", "r")]
    sources = [{**pair, "source": "h"} for pair in others]
    sizes = {"warmup": 10, "grpo": 26, "held_out": 4}
    found = split(others=sources, **sizes)
    assert {use: len(own) for use, own in found.items()} == sizes
    assert all("culture" in pair for pair in found["warmup"])
    every = split(others=sources, warmup=0, grpo=51)
    assert {pair["id"] for pair in others} <= {pair["id"] for pair in every["grpo"]}


def test_shares_say_how_many_pairs_of_each_source_grpo_gets_and_the_rest_is_filled_at_random():
    made = [("care", 40), ("helpsteer3", 200), ("mini-pool/chat", 20)]
    others = [{"id": f"{source}-{n}", "prompt": "p", "chosen": "c", "rejected": "r", "source": source}
              for source, count in made for n in range(count)]  # fmt: skip

    def sources(shares):
        found = split(others=others, warmup=10, grpo=60, shares=shares)["grpo"]
        assert len(found) == 60
        found = [pair.get("source", "own") for pair in found]
        assert found != sorted(found)  # sources are mixed
        return Counter(found)

    exact = {"care": 30, "own": 15, "mini-pool/chat": 15}
    assert sources({"care": 0.5, "own": 0.25, "mini-pool": 0.25}) == exact
    assert sources({"care": 1.0})["care"] == 40  # it has no more
    assert sources({"care": 0.5})["care"] >= 30


def test_easy_pairs_are_a_share_of_the_warm_up_and_of_grpo_where_they_come_first():
    how = {"easy": EASY, "warmup": 10, "held_out": 6, "easy_shares": {"warmup": 0.5, "grpo": 0.5}}
    found = split(grpo=20, **how)
    easy = {use: [pair["id"].startswith("off-") for pair in own] for use, own in found.items()}
    assert sorted(easy["warmup"]) == [False] * 5 + [True] * 5
    assert easy["grpo"] == [True] * 10 + [False] * 10
    assert not any(easy["held_out"]) and len(easy["held_out"]) == 6
    trained = {pair["topic"] for use in ("warmup", "grpo") for pair in found[use] if "topic" in pair}
    assert {pair["topic"] for pair in found["held_out"]} <= trained
    said = "think_as_locals.easy: 30 pairs to train on, but 35 are asked for"
    assert said in refused(split, grpo=60, **how)


def test_one_pair_of_each_of_some_items_is_held_out_and_grpo_gets_their_others():
    found = split(grpo=10, warmup=6, held_out=5)
    items = {use: [(pair["topic"], pair["culture"]) for pair in of_use] for use, of_use in found.items()}
    assert len(set(items["held_out"])) == 5
    assert Counter(items["grpo"]) == dict.fromkeys(items["held_out"], 2)
    assert not set(items["warmup"]) & set(items["held_out"])
    more = split(grpo=20, warmup=6, held_out=5)
    assert more["held_out"] == found["held_out"] and len(more["grpo"]) == 20
    said = "think_as_locals.held_out: 17 items, but 16 are there to train on"
    assert said in refused(split, warmup=0, grpo=1, held_out=17)


def test_the_warm_up_gets_pairs_with_an_answer_of_a_held_out_item_last(capsys):
    pairs = [
        {"id": f"{topic}-{wrong}", "prompt": topic, "chosen": right, "rejected": wrong, "culture": "de", "topic": topic}
        for topic, right, *wrongs in ("a123", "b213", "c456", "d789") for wrong in wrongs
    ]  # fmt: skip

    def warmup(size, seed):
        found = split(pairs, warmup=size, grpo=1, held_out=1, seed=seed)
        (held_out,) = found["held_out"]
        return held_out["topic"], {pair["topic"] for pair in found["warmup"]}, capsys.readouterr()

    seen = set()
    for seed in range(8):
        held_out, topics, _ = warmup(4, seed)
        seen.add(held_out)
        if held_out in "ab":
            assert topics == {"c", "d"}
            assert "2 pairs of the warm-up have an answer of a held-out item" in "".join(warmup(6, seed)[2])
    assert seen & {"a", "b"}


# --- replies of the warm-up


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


def test_the_warm_up_has_right_replies_in_form_in_both_orders(rows_of, templates):
    rows = rows_of(PAIRS)
    read = [read_reply(row["chosen"], ended=True) for row in rows]
    assert [reply.verdict for reply in read] == ["A", "B"] * 48
    assert len({reply.criteria for reply in read}) > 10
    assert rows_of(PAIRS, "en") != rows
    short = [read_reply(row["chosen"], True, criteria_wanted=False) for row in at_once(rows)]
    assert short == [Reply((), verdict) for verdict in ["A", "B"] * 48]
    # Of no culture: what holds anywhere
    easy = [read_reply(row["chosen"], ended=True) for row in rows_of(EASY[:1])]
    assert [reply.verdict for reply in easy] == ["A", "B"]
    assert {reply.criteria[0] for reply in easy} <= set(templates["en"]["anywhere"])


def test_the_last_criterion_names_the_place_and_the_right_answer_with_its_label(rows_of):
    of_japan = training_pairs([item("tea", "ja")])[:1]
    first, second = rows_of(of_japan, "en", 60)
    assert first["chosen"].endswith(" in Japan: tea of ja (A)\nVerdict: A")
    assert second["chosen"].endswith("tea of ja (B)\nVerdict: B")
    assert all("in Japan" in row["chosen"] for row in rows_of(of_japan, "de"))
    rows = rows_of(PAIRS, quote=24)
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
    found = refused(locals_pairs.read_criteria, tmp_path / "c.yaml", ["en", "de"], ["values"])
    said = (
        "language de: no criteria of values", "language de: no criteria of anywhere", "'no place' has {place} 0 times",
        "has {place} 2 times", "'here {place}' has {place} 1 times; leave it out",
    )  # fmt: skip
    assert [text for text in said if text not in found] == []
