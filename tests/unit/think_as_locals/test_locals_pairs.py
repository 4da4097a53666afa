"""Pairs that judges are trained on, and who gets which."""

from collections import Counter

import pytest
from locals_data import EASY, ITEMS
from support import script

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.criteria_layout import question

locals_pairs = script("prepare/locals_pairs")
both_orders, drawn_for = locals_pairs.both_orders, locals_pairs.drawn_for
PAIRS = locals_pairs.training_pairs(ITEMS)


def split(own=PAIRS, others=(), easy=(), *, seed=1, held_out=0, **how):
    """Split pairs, and assert that none is in two parts."""
    found = locals_pairs.split_pairs(own, others, easy, held_out=held_out, seed=seed, **how)
    ids = [pair["id"] for of_use in found.values() for pair in of_use]
    assert len(ids) == len(set(ids))
    return found


def test_an_item_makes_three_pairs_and_each_stands_in_both_orders():
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


def test_pairs_are_dealt_once_each_and_by_their_hashes_alone():
    sizes = {"warmup": 10, "grpo": 20}
    found = drawn_for(PAIRS, sizes, 1)
    assert {use: len(own) for use, own in found.items()} == {**sizes, "rest": 18}
    assert len({pair["id"] for own in found.values() for pair in own}) == 48
    assert drawn_for(PAIRS[::-1], sizes, 1) == found
    assert drawn_for(PAIRS, sizes, 2) != found
    with pytest.raises(PolyrewardError, match="48 pairs to train on, but warmup 40, grpo 20 are asked for"):
        drawn_for(PAIRS, {"warmup": 40, "grpo": 20}, 1)


def test_datasets_join_grpo_alone():
    rows = [{"id": name, "prompt": "p", "chosen": "c", "rejected": texts} for name, texts in (("h1", ["r", "s"]), ("h2", "r"))]  # fmt: skip
    others = locals_pairs.dataset_pairs(rows)
    found = [(pair["id"], pair["rejected"]) for pair in others]
    assert found == [("h1_0", "r"), ("h1_1", "s"), ("h2_0", "r")]
    sizes = {"warmup": 10, "grpo": 26, "held_out": 4}
    found = split(others=others, **sizes)
    assert {use: len(own) for use, own in found.items()} == sizes
    assert all("culture" in pair for pair in found["warmup"])
    every = split(others=others, warmup=0, grpo=51)
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

    assert sources({"care": 0.5, "own": 0.25, "mini-pool": 0.25}) == {
        "care": 30,
        "own": 15,
        "mini-pool/chat": 15,
    }
    assert sources({"care": 1.0})["care"] == 40  # it has no more
    assert sources({"care": 0.5})["care"] >= 30
    assert sources({}) == sources(None)


def test_easy_pairs_are_a_share_of_the_warm_up_and_of_grpo_where_they_come_first():
    how = {"easy": EASY, "warmup": 10, "held_out": 6, "easy_shares": {"warmup": 0.5, "grpo": 0.5}}
    found = split(grpo=20, **how)
    easy = {use: [pair["id"].startswith("off-") for pair in own] for use, own in found.items()}
    assert sorted(easy["warmup"]) == [False] * 5 + [True] * 5
    assert easy["grpo"] == [True] * 10 + [False] * 10
    assert not any(easy["held_out"]) and len(easy["held_out"]) == 6
    trained = {pair["topic"] for use in ("warmup", "grpo") for pair in found[use] if "topic" in pair}
    assert {pair["topic"] for pair in found["held_out"]} <= trained
    said = "think_as_locals.easy: 30 pairs to train on, but warmup 5, grpo 30 are asked for"
    with pytest.raises(PolyrewardError, match=said):
        split(grpo=60, **how)


def test_one_pair_of_each_of_some_items_is_held_out_and_grpo_gets_their_others():
    found = split(grpo=10, warmup=6, held_out=5)
    items = {use: [(pair["topic"], pair["culture"]) for pair in of_use] for use, of_use in found.items()}
    assert len(set(items["held_out"])) == 5
    assert Counter(items["grpo"]) == dict.fromkeys(items["held_out"], 2)
    assert not set(items["warmup"]) & set(items["held_out"])
    more = split(grpo=20, warmup=6, held_out=5)
    assert more["held_out"] == found["held_out"] and len(more["grpo"]) == 20
    said = "think_as_locals.held_out: 17 items, but 16 are there to train on"
    with pytest.raises(PolyrewardError, match=said):
        split(warmup=0, grpo=1, held_out=17)


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
