"""Settings whose key is unknown or missing, or whose value is not of its type."""

import pytest
from settings_data import CONFIG, KNOWN, LEFT_OUT, changed, problems
from support import ROOT

from polyreward.config.settings import Places, settings_problems
from polyreward.settings.model import Settings


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sed": 1}, "sed: unknown key; did you mean `seed`?"),
        ({"gate__colour": "red"}, "gate.colour: unknown key; there are base, seeds"),
        ({"gate__seeds": LEFT_OUT}, "gate.seeds: is missing; give a whole number of 1 or more"),
        ({"gate__seeds": LEFT_OUT, "gate__seed": 3}, "gate.seed: unknown key; did you mean `seeds`?"),
        ({"gate": LEFT_OUT}, "gate: is missing; give a section of keys"),
        ({"gate": None}, "gate: `null` is not a section of keys"),
        ({"seed": "minus"}, "seed: `minus` is not a whole number of 0 or more"),
        ({"seed": "7"}, "seed: `7` is not a whole number of 0 or more; YAML reads it as text: write 7"),
        ({"seed": True}, "seed: `true` is not a whole number of 0 or more"),
        ({"seed": 1.5}, "seed: `1.5` is not a whole number of 0 or more"),
        ({"reward_model__epochs": 0}, "reward_model.epochs: `0` is not a number above 0"),
        ({"reward_model__epochs": float("inf")}, "reward_model.epochs: `Infinity` is not a number above 0"),
        (
            {"reward_model__learning_rate": "1e-5"},
            "reward_model.learning_rate: `1e-5` is not a number above 0; YAML reads it as text: write 1.0e-5",
        ),
        ({"pool__dev_share": 1}, "pool.dev_share: `1` is not a number of 0 or more and below 1"),
        ({"pool__max_pairs": {"a": 0}}, "pool.max_pairs.a: `0` is not a whole number of 1 or more"),
        ({"reward_model__lora__rank": 0}, "reward_model.lora.rank: `0` is not a whole number of 1 or more"),
        (
            {"reward_model__token_budget": 0},
            "reward_model.token_budget: `0` is not a whole number of 1 or more or null",
        ),
        ({"results": "a b"}, "results: `a b` is not a path of letters"),
        ({"precision": "bf16"}, "precision: `bf16` is not one of float32, bfloat16, auto"),
        ({"carb__rating": "chfr"}, "carb.rating: `chfr` is not one of match, chrf; did you mean `chrf`?"),
        ({"target_languages": []}, "target_languages: `[]` is not a list of 1 or more"),
        ({"bases": "gemma"}, "bases: `gemma` is not a list"),
        ({"bases": ["gemma", "gemma"]}, "bases: has `gemma` more than once; leave one"),
        ({"bases": ["gemma", 1]}, "bases: `1` is not text"),
        ({"target_languages": [False]}, "target_languages: `false` is not text; YAML reads a bare yes, no"),
        (
            {"source_language": "EN"},
            "source_language: `EN` is not a language code of two or three small letters",
        ),
        (
            {"reward_models": {"r": {"kind": "classifer", "path": "x"}}},
            "reward_models.r.kind: `classifer` is not one of class",
        ),
        (
            {"reward_models": {"r": {"path": "x"}}},
            "reward_models.r.kind: is missing; give one of classifier, implicit, generat",
        ),
        ({"reward_models": {"r": 3}}, "reward_models.r: `3` is not a section of keys"),
        (
            {"reward_models": {"r": {"kind": "classifier"}}},
            "reward_models.r: must have exactly one of model, path, hub and think",
        ),
        (
            {"reward_models": {"r": {"kind": "generative", "server": {"url": "http://a"}}}},
            "reward_models.r.server.model: is miss",
        ),
        (
            {"reward_models": {"r": {"kind": "classifier", "hub": None}}},
            "reward_models.r.hub: `null` is not text",
        ),
        (
            {"reward_models": {"r_m": {"kind": "classifier", "hub": "a/b"}}},
            "reward_models.r_m: `r_m` is not a name of letters",
        ),
        (
            {"carb__generators": {"g": {"kind": "classifier", "hub": "a"}}},
            "carb.generators.g.kind: `classifier` is not generat",
        ),
        (
            {"translation__engines__lm__prompt": "x"},
            "translation.engines.lm.prompt: `x` is not text with {text} in it",
        ),
        (
            {"translation__engines__lm__model": {}},
            "translation.engines.lm.model: `{}` is not entries by name",
        ),
        (
            {"gate": {**CONFIG["gate"], 1: 2}},
            "gate.1: `1` is not text; YAML reads it as another kind of value: put it in quotes",
        ),
        ({"pool__max_pairs": {False: 2}}, "pool.max_pairs.false: `false` is not text"),
        ({"reward_model__bf16": True}, "reward_model.bf16: there is one setting for all models, `precision`"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(change, problem):
    (found,) = problems(**change)
    assert found.startswith(problem)


def test_keys_of_before_are_named_and_those_of_a_models_own_entry_are_not():
    entry = {"kind": "generative", "model": "gemma", "dtype": "bfloat16"}
    found = problems(
        reward_models={"mine": entry}, carb__generators={"mine": entry}, carb__embedding__dtype="float32",
        reward_model__bf16=True, think_as_locals__judge__dtype="float32", translation__engines__lm__dtype="float32",
    )  # fmt: skip
    named = [problem.split(": there is one setting")[0] for problem in found]
    expected = [
        "carb.embedding.dtype",
        "reward_model.bf16",
        "think_as_locals.judge.dtype",
        "translation.engines.lm.dtype",
    ]
    assert sorted(named) == sorted(expected)


def test_keys_that_were_renamed_are_named_with_their_new_names():
    found = problems(
        locals={"samples": 3},
        reward_models={"mine": {"kind": "generative", "model": "gemma", "locals": "full"}},
    )
    new = "unknown key; did you mean `think_as_locals`?"
    assert sorted(found) == [f"locals: {new}", f"reward_models.mine.locals: {new}"]
    old = {key: value for key, value in CONFIG.items() if key != "think_as_locals"} | {
        "locals": CONFIG["think_as_locals"]
    }
    assert [str(problem) for problem in settings_problems(old, KNOWN)] == [f"locals: {new}"]


def test_keys_values_names_and_what_does_not_fit_are_listed_at_once():
    found = problems(
        sed=1, gate__seeds="x", bases=["gema", "gemma"], reward_model__gradient_checkpointing=True
    )
    assert [problem.split(": ")[0] for problem in found] == [
        "gate.seeds",
        "sed",
        "bases",
        "reward_model.token_budget",
    ]


def test_what_needs_a_wrong_value_is_not_reported_on_top_of_it():
    (problem,) = problems(bases=3)  # gate.base and alignment.reward_base are names of it
    assert problem.startswith("bases: ")
    (problem,) = problems(
        reward_models={"r": {"kind": "generative", "model": "gemma", "beta": 1}}, carb__knockout=["r"]
    )
    assert problem.startswith("reward_models.r.beta: unknown key")


def test_a_fault_in_a_section_leaves_the_rest_of_it_checked():
    assert len(problems(alignment__prompts=0, alignment__policy="gema", alignment__judge="gemma-rm")) == 3


def keys_of(settings, key=()):
    for name, value in settings.items():
        yield (*key, name)
        if isinstance(value, dict):
            yield from keys_of(value, (*key, name))


@pytest.mark.parametrize("value", [None, -1, "x", ["x", {}], {}, {"x": {"y": []}}, {1: 2}, True], ids=str)
def test_whatever_stands_at_a_key_is_a_problem_in_words_or_fine(value):
    places = Places([ROOT / "config.yaml"])
    for key in keys_of(CONFIG):
        for problem in settings_problems(changed(**{"__".join(key): value}), KNOWN):
            assert problem.placed(places)


def test_no_key_without_a_default_may_be_missing():
    for key in (name for name, field in Settings.model_fields.items() if field.is_required()):
        assert f"{key}: is missing; give" in "\n".join(problems(**{key: LEFT_OUT}))
