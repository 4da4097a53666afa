"""Scoring items of four answers: with any reward model, in a knock-out, and with lower layers from memory."""

from types import SimpleNamespace

import numpy as np
from made_up_scorers import ByText
from support import refused, script
from tiny_models import base, bases, reward_folder, trained  # noqa: F401

from polyreward.carb.scores import SCORE_COLUMNS, asked_of, item_scores, load_scorer, write_item_scores
from polyreward.core.files import write_jsonl
from polyreward.core.tables import read_scores
from polyreward.scoring.interface import Conversations
from polyreward.scoring.knockout import Knockout

carb_scores = script("score/carb_scores")
save_item_states = script("score/carb_states").save_item_states

SCORING = {"dtype": "float32", "max_length": 128, "token_budget": 512, "attention": "sdpa"}


def fake(**changes) -> ByText:
    return ByText({"a": 1, "b": 2, "c": 3, "d": 0, "e": 5, **changes}.get)


def item(name="i1", answers="abcd", chosen=2, culture="de") -> dict:
    return {"id": name, "topic": f"of {name}", "culture": culture, "domain": "values", "prompt": f"Q {name}?",
            "answers": list(answers), "chosen": chosen}  # fmt: skip


def test_a_row_for_each_answer():
    table = item_scores(fake(), [item()], "test")
    assert list(table.columns) == SCORE_COLUMNS
    found = table[["candidate", "score", "is_chosen"]].to_numpy().tolist()
    assert found == [[0, 1, False], [1, 2, False], [2, 3, True], [3, 0, False]]
    assert not table["within_noise"].any() and not table["truncated"].any()


def test_within_noise_is_said_of_the_whole_item_also_without_a_chosen_answer():
    table = item_scores(fake(b=3.00005), [item(), item("i2", chosen=0)], "test")
    assert list(table.groupby("id", sort=False)["within_noise"].sum()) == [4, 0]
    table = item_scores(fake(a=2, b=1, c=2), [item(chosen=None)], "test")
    assert not table["is_chosen"].any()
    assert table["within_noise"].all()  # the first stands for it, and ties with another


def test_a_score_that_is_not_a_number_is_refused_by_name():
    items = [item(), item("i2", answers="abce")]
    assert "rm: the scores of 1 items are NaN (i2)" in refused(item_scores, fake(e=np.nan), items, "rm")
    assert "are NaN" in refused(item_scores, Knockout(fake(b=np.nan), seed=1), items[:1], "rm")


def test_all_files_at_once_and_apart_again(tmp_path):
    model = fake()
    files = {"de": [item("i1"), item("i2")], "ja": [item("i3", "ea", 0, culture="ja")], "ko": []}
    paths = [tmp_path / f"carb/{name}.jsonl" for name in files]
    for path, items in zip(paths, files.values(), strict=True):
        write_jsonl(items, path)
    outputs = [tmp_path / f"carb/{scorer}/{name}.parquet" for name in files for scorer in "yx"]
    write_item_scores({"x": model, "y": model}, paths, outputs, "test")
    assert len(model.asked) == 2
    table = read_scores(outputs)
    own = [name for name in SCORE_COLUMNS if name != "language"]
    assert list(table.columns) == ["benchmark", "scorer", "language", *own]
    of_y = table[(table["scorer"] == "y") & (table["language"] == "ja")]
    assert list(of_y["score"]) == [5, 1] and set(of_y["template"]) == {"of i3"}
    assert set(table["id"]) == {"i1", "i2", "i3"} and set(table["benchmark"]) == {"carb"}


def test_scores_that_are_known_are_not_computed_again(tmp_path):
    items, path, output = [item("i1"), item("i2")], tmp_path / "carb/de.jsonl", tmp_path / "carb/x/de.parquet"
    write_jsonl(items, path)
    model = fake()
    write_item_scores({"x": model}, [path], [output], "test", {"x": fake(a=7).score(asked_of(items), "")})
    assert not model.asked
    assert list(read_scores([output])["score"]) == [7, 2, 3, 0] * 2


def questions(*answers) -> list[Conversations]:
    return [Conversations(f"Q{number}?", tuple(texts)) for number, texts in enumerate(answers)]


def knocked_out(model, items):
    return Knockout(model, seed=3).score(items, "test").values


def test_rounds_of_all_items_are_judged_together_and_draws_depend_on_the_item_alone():
    model, items = fake(), questions(*["abcd"] * 20)
    together = knocked_out(model, items)
    assert [len(asked) for asked in model.asked] == [40, 20]  # three matches of four answers
    for values in together:
        assert values[2] == 2 and sorted(values) == [0, 0, 1, 2]  # finds the best
    np.testing.assert_array_equal([knocked_out(fake(), [one])[0] for one in items], together)
    assert len({tuple(values) for values in together}) > 1  # who meets whom is drawn


def test_ties_at_the_top_a_bye_of_three_and_no_match_of_one():
    assert sorted(knocked_out(ByText(lambda answer: 1), questions("abcd"))[0]) == [0.5, 0.5, 1, 1]
    three, one = knocked_out(fake(), questions("abc", "a"))
    assert three.sum() == 3 and three.argmax() == 2 and list(one) == [0]


def test_frozen_layers_from_memory_change_no_score(reward_folder, base, tmp_path):  # noqa: F811
    items = [
        item("i1", ("Yes, of course.", "No.", "It is 7.", "Never on a Sunday.")),
        item("i2", ("So.", "Not so.", "7", "8")),
    ]
    save_item_states(base, items, 1, 128, 512, tmp_path / "states.safetensors")
    entry = {"kind": "classifier", "source": reward_folder}
    tables = []
    for states in ([], [tmp_path / "states.safetensors"]):
        reward_model = load_scorer(entry, SCORING, tmp_path, states)
        tables.append(item_scores(reward_model, items, "test"))
    assert reward_model.frozen is not None
    np.testing.assert_allclose(tables[0]["score"], tables[1]["score"], atol=1e-5)


def test_a_judge_gives_its_own_verdict_or_plays_a_knockout(bases, tmp_path):  # noqa: F811
    found = {}
    for name, seed in (("judge", None), ("judge-knockout", 5)):
        files = SimpleNamespace(item_files=[tmp_path / "carb/de.jsonl"], frozen=[])
        write_jsonl([item()], files.item_files[0])
        output = tmp_path / f"scores/carb/{name}/de.parquet"
        output.parent.mkdir(parents=True)
        params = SimpleNamespace(
            entry={"kind": "generative", "source": bases["tiny-llama"]}, scoring={**SCORING, "max_length": 1024},
            cache=tmp_path, may_be_missing=False, knockout=seed,
        )  # fmt: skip
        wildcards = SimpleNamespace(scorer=name)
        carb_scores.main(
            SimpleNamespace(input=files, output=[str(output)], params=params, wildcards=wildcards)
        )
        found[name] = read_scores(output)["score"]
    # shares of four labels, averaged in logarithms
    assert np.isclose(np.exp(found["judge"]).sum(), 1, atol=0.2)
    assert found["judge-knockout"].sum() == 3
