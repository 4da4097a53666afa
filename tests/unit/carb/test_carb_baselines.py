"""Length and script on best-of-four items with known answers."""

import pytest

from polyreward.carb.baselines import baseline_accuracies, text_scorers
from polyreward.scoring.baselines import script_baseline
from polyreward.scoring.interface import Conversations


def item(number, answers, chosen, prompt="What do people do?", **changes):
    return {
        "id": str(number),
        "culture": "en",
        "domain": "values",
        "prompt": prompt,
        "answers": answers,
        "chosen": chosen,
        **changes,
    }


def accuracies(*items):
    table = baseline_accuracies(items).set_index("scorer")
    return {name: (table.loc[name, "accuracy_pct"], table.loc[name, "strict_pct"]) for name in table.index}


def test_length_prefers_the_longest_and_script_is_at_chance_where_all_answers_are_in_one():
    items = [item(1, ["a", "bb", "ccc", "dddd"], 3), item(2, ["a", "bb", "ccc", "dddd"], 0)]
    assert accuracies(*items) == {"length": (50, 50), "script": (25, 0)}


def test_a_tie_at_the_top_is_shared_out_and_strictly_wrong():
    assert accuracies(item(1, ["aa", "bb", "c", "d"], 0))["length"] == (50, 0)
    assert accuracies(item(1, ["aa", "bb", "c", "d"], 2))["length"] == (0, 0)


def test_script_finds_the_only_answer_in_the_prompt_s_script():
    leak = ["да", "bb", "コーヒー", "가"]
    assert accuracies(item(1, leak, 0, prompt="Что они делают?"))["script"] == (100, 100)
    assert accuracies(item(1, leak, 0))["script"] == (0, 0)


def test_accuracies_are_per_culture_and_domain():
    items = [
        item(1, ["a", "bb"], 1),
        item(2, ["a", "bb"], 0, domain="safety"),
        item(3, ["a", "bb"], 1, culture="de"),
    ]
    table = baseline_accuracies(items)
    length = table[table["scorer"] == "length"]
    assert length[["culture", "domain", "accuracy_pct", "n_items"]].values.tolist() == [
        ["en", "values", 100, 1], ["en", "safety", 0, 1], ["de", "values", 100, 1],
    ]  # fmt: skip


def test_an_answer_without_letters_is_in_the_prompt_s_script():
    scores = script_baseline().score([Conversations("Что?", ("31/12", "да", "dа", "yes"))], "script")
    assert scores.values[0].tolist() == pytest.approx([1, 1, 0.5, 0])


def test_scorers_serve_as_reward_models_do():
    for scorer in text_scorers().values():
        found = scorer.score([Conversations("p", ("a", "b", "c", "d")), Conversations("q", ("a", "b"))], "x")
        assert [len(values) for values in found.values] == [4, 2]
        assert scorer.exact and scorer.alone() is scorer
