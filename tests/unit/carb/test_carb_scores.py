"""Scoring items of four answers: with any reward model, in a knock-out, and with lower layers from memory."""

import dataclasses

import numpy as np
import pytest
from support import script
from tiny_models import base, bases, reward_folder, trained  # noqa: F401

from polyreward.carb.scores import SCORE_COLUMNS, item_scores, load_scorers, write_item_scores
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.core.tables import read_scores
from polyreward.scoring.interface import Conversations, Scores
from polyreward.scoring.knockout import Knockout

save_item_states = script("score/carb_item_states").save_item_states

SCORING = {"dtype": "float32", "max_length": 128, "token_budget": 512, "attention": "sdpa"}


@dataclasses.dataclass
class Fake:
    """A reward model of given values: {answer: value}; with `only_best`, values are the share of the pair
    that wins."""

    values: dict
    exact: bool = True

    def __post_init__(self):
        self.asked = []

    def score(self, conversations, label):
        self.asked.append([c.answers for c in conversations])
        values = [np.array([self.values[answer] for answer in c.answers], dtype=float) for c in conversations]
        return Scores(values, [np.zeros(len(v), dtype=bool) for v in values])

    def unbatched(self):
        return self


def item(name="i1", answers=("a", "b", "c", "d"), chosen=2, culture="de", domain="values") -> dict:
    return {
        "id": name,
        "topic": f"of {name}",
        "culture": culture,
        "domain": domain,
        "prompt": f"Q {name}?",
        "answers": list(answers),
        "chosen": chosen,
    }


def test_a_row_for_each_answer():
    table = item_scores(Fake({"a": 1, "b": 2, "c": 3, "d": 0}), [item()], "test")
    assert list(table.columns) == SCORE_COLUMNS
    assert list(table["score"]) == [1, 2, 3, 0]
    assert list(table["candidate"]) == [0, 1, 2, 3]
    assert list(table["is_chosen"]) == [False, False, True, False]
    assert not table["within_noise"].any() and not table["truncated"].any()


def test_within_noise_is_told_of_the_whole_item():
    table = item_scores(Fake({"a": 1, "b": 3.00005, "c": 3, "d": 0}), [item(), item("i2", chosen=0)], "test")
    assert list(table.groupby("id", sort=False)["within_noise"].sum()) == [4, 0]


def test_an_item_without_a_chosen_answer():
    table = item_scores(Fake({"a": 2, "b": 1, "c": 2, "d": 0}), [item(chosen=None)], "test")
    assert not table["is_chosen"].any()
    assert table["within_noise"].all()  # the first stands for it, and ties with another


def test_a_score_that_is_not_a_number_is_refused_by_name():
    with pytest.raises(PolyrewardError, match=r"rm: the scores of 1 items are NaN \(i2\)"):
        item_scores(
            Fake({"a": 1, "b": 2, "c": 3, "d": 0, "e": float("nan")}),
            [item(), item("i2", answers="abce")],
            "rm",
        )


def test_all_files_at_once_and_apart_again(tmp_path):
    fake = Fake({"a": 1, "b": 2, "c": 3, "d": 0, "e": 5})
    files = {
        "de": [item("i1"), item("i2")],
        "ja": [item("i3", answers=("e", "a"), chosen=0, culture="ja")],
        "ko": [],
    }
    paths = [tmp_path / f"carb/{name}.jsonl" for name in files]
    for path, items in zip(paths, files.values(), strict=True):
        write_jsonl(items, path)
    outputs = [tmp_path / f"carb/{scorer}/{name}.parquet" for name in files for scorer in "yx"]
    write_item_scores({"x": fake, "y": fake}, paths, outputs, "test")
    assert len(fake.asked) == 2
    table = read_scores(outputs)
    assert list(table.columns) == [
        "benchmark",
        "scorer",
        "language",
        *(c for c in SCORE_COLUMNS if c != "language"),
    ]
    of_y = table[(table["scorer"] == "y") & (table["language"] == "ja")]
    assert list(of_y["score"]) == [5, 1] and set(of_y["template"]) == {"of i3"}
    assert set(table["id"]) == {"i1", "i2", "i3"} and set(table["benchmark"]) == {"carb"}


def test_knockout_of_four_plays_three_matches_and_finds_the_best():
    fake = Fake({"a": 1, "b": 2, "c": 3, "d": 0})
    found = Knockout(fake, seed=3).score([Conversations("Q?", ("a", "b", "c", "d"))], "test")
    assert [len(round_) for round_ in fake.asked] == [2, 1]
    assert found.values[0].sum() == 3
    assert found.values[0][2] == 2 and sorted(found.values[0]) == [0, 0, 1, 2]


def test_rounds_of_all_items_are_judged_together_and_draws_depend_on_the_item_alone():
    fake = Fake({"a": 1, "b": 2, "c": 3, "d": 0})
    items = [Conversations(f"Q{n}?", ("a", "b", "c", "d")) for n in range(20)]
    together = Knockout(fake, seed=3).score(items, "test").values
    assert [len(round_) for round_ in fake.asked] == [40, 20]
    separate = [Knockout(fake, seed=3).score([one], "test").values[0] for one in reversed(items)][::-1]
    np.testing.assert_array_equal(together, separate)
    assert len({tuple(values) for values in together}) > 1  # who meets whom is drawn


def test_answers_that_a_judge_cannot_tell_apart_tie_at_the_top():
    values = (
        Knockout(Fake(dict.fromkeys("abcd", 1)), seed=1)
        .score([Conversations("Q?", tuple("abcd"))], "test")
        .values[0]
    )
    assert sorted(values) == [0.5, 0.5, 1, 1]


def test_a_knockout_of_three_has_a_bye_and_of_one_no_match():
    fake = Fake({"a": 1, "b": 2, "c": 3})
    three, one = (
        Knockout(fake, seed=1)
        .score([Conversations("Q?", tuple("abc")), Conversations("Q?", ("a",))], "test")
        .values
    )
    assert three.sum() == 3 and three.argmax() == 2
    assert list(one) == [0]


def test_a_knockout_keeps_what_is_not_a_number():
    with pytest.raises(PolyrewardError, match="are NaN"):
        item_scores(Knockout(Fake({"a": 1, "b": float("nan"), "c": 3, "d": 0}), seed=1), [item()], "rm")


def test_frozen_layers_from_memory_change_no_score(reward_folder, base, tmp_path):  # noqa: F811
    items = [
        item("i1", ("Yes, of course.", "No.", "It is 7.", "Never on a Sunday.")),
        item("i2", ("So.", "Not so.", "7", "8")),
    ]
    save_item_states(base, items, 1, 128, 512, tmp_path / "states.safetensors")
    entry = {"kind": "classifier", "source": reward_folder}
    tables = []
    for states in ([], [tmp_path / "states.safetensors"]):
        reward_model = load_scorers("rm", entry, SCORING, tmp_path, states)["rm"]
        tables.append(item_scores(reward_model, items, "test"))
    assert reward_model.frozen is not None
    np.testing.assert_allclose(tables[0]["score"], tables[1]["score"], atol=1e-5)


def test_a_judge_plays_a_knockout_beside_its_own_verdict(bases, tmp_path):  # noqa: F811
    entry = {"kind": "generative", "source": bases["tiny-llama"]}
    judges = load_scorers("judge", entry, {**SCORING, "max_length": 1024}, tmp_path, knockout=5)
    assert list(judges) == ["judge", "judge-knockout"]
    listwise, knockout = (item_scores(judge, [item()], "test") for judge in judges.values())
    assert np.isclose(
        np.exp(listwise["score"]).sum(), 1, atol=0.2
    )  # shares of four labels, averaged in logarithms
    assert knockout["score"].sum() == 3
