"""What CARB's and Think-as-Locals' rules read and write, of a small made-up scale."""

import re
from pathlib import Path

import pytest
from settings_data import load, settings_with
from tiny_models import ROOT

from polyreward.carb.inputs import Carb
from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import Scale
from polyreward.core.codehash import code_at
from polyreward.think_as_locals.inputs import ThinkAsLocals

FOLDER = "out/work"
CARB = {
    "cultures": ["ar", "ko"], "domains": ["food"], "policies": ["p", "q"], "knockout": ["judge"],
    "questions": ["mine.jsonl", "exams"], "candidates": {"max_new_tokens": 7}, "grpo": None, "generators": {}, "item_files": [],
    "culture_file": str(ROOT / "resources/carb/cultures.yaml"), "topics": str(ROOT / "resources/carb/topics"),
    "perturbation": {"wordings": str(ROOT / "resources/carb/wordings")}, "consistency": {"k": 3.0},
}  # fmt: skip
ALL = {"correctness": 1, "appropriateness": 1, "layout": 1}
LOCALS = {
    "base": "a", "warmup": {"pairs": 5}, "runs": {"full": ALL, "bare": {**ALL, "layout": 0}, "no-criteria": ALL},
    "cultures": ["ko"], "judge": {"max_length": 640, "max_new_tokens": 9}, "judge_token_budget": 8,
    "evaluation": {"cultures": ["ko"]}, "grpo": {"pairs": 6}, "held_out": 3, "seeds": 3, "easy": None, "others": [],
}  # fmt: skip
CONFIG = {
    "results": "out", "seed": 1, "bases": ["a"], "source_language": "en", "target_languages": ["es"],
    "benchmarks": {"main": "bench", "twins": "pairs"}, "off_the_shelf": ["judge"], "precision": "float32",
    "scoring": {"token_budget": 1, "max_length": 64}, "intervals": {"samples": 10, "confidence": 0.9},
    "reward_model": {"lora": {"rank": 1, "alpha": 1, "top_layers": 2}, "cache_frozen_layers": True},
    "devices": {"serve": None, "launch": None},
    "alignment": {"policy": "p", "sft": None, "reward_base": "a", "prompt_data": None, "reference": None},
}  # fmt: skip


MINE = {"kind": "classifier", "path": "rm"}


def made(carb=(), locals_=(), reward_models=(), alignment=()):
    """Return CARB's and Think-as-Locals' part of a scale, and the scale, with changes to its settings."""
    config = {
        **CONFIG,
        "carb": {**CARB, **dict(carb)},
        "think_as_locals": {**LOCALS, **dict(locals_)},
        "reward_models": {"mine": MINE, **dict(reward_models)},
        "alignment": {**CONFIG["alignment"], **dict(alignment)},
    }
    models = {"a": {"source": {"kind": "pypi"}}, "p": {"source": {"kind": "random"}}}
    datasets = {"exams": {"kind": "hub", "holds": "questions"}}
    judges = {"judge": {"kind": "generative", "model": "a"}}
    known = Known(models, judges, datasets, {"bench": {"sections": {}, "weights": {}}}, {})
    scale = Scale(settings_with(config), known)
    carb = Carb(scale, ModelFiles(scale))
    return carb, ThinkAsLocals(carb), scale


@pytest.fixture(scope="module")
def carb():
    return made()[0]


@pytest.fixture(scope="module")
def locals_():
    return made()[1]


def test_kin_are_reward_models_of_one_base():
    more = {
        "policy": {"kind": "implicit", "path": "dpo", "reference": {"model": "p"}},
        "local": {"kind": "generative", "think_as_locals": "full"},
        "hubs": {"kind": "classifier", "hub": "some/one"},
    }
    kin = {"a_en": "a", "a_es": "a", "mine": "mine", "judge": "a", "judge-knockout": "a", "policy": "p", "local": "a",
           "hubs": "hubs"}  # fmt: skip
    assert made(reward_models=more)[0].bases == kin


def test_the_leaderboard_has_reward_models_knockouts_and_baselines(carb):
    assert list(carb.scorers.items()) == [
        *((name, "classifier") for name in ("a_en", "a_es", "mine")), ("judge", "generative"),
        ("judge-knockout", "generative"), *((name, "baseline") for name in ("length", "script", "loglik-a", "pmi-a")),
    ]  # fmt: skip
    assert set(carb.reward_models) - set(carb.perturbed_models) == {"judge-knockout"}


def test_a_policy_is_trained_by_each_reward_model_but_knockouts_or_by_those_that_are_named(carb):
    assert carb.rewarding == []  # unless the settings say how
    settings = {k: v for k, v in load("config.yaml")["think_as_locals"]["grpo"].items() if k != "pairs"}
    grpo = {**settings, "policy": "p", "reward_models": None, "prompts": 3}
    assert made({"grpo": grpo})[0].rewarding == ["a_en", "a_es", "mine", "judge"]
    carb = made({"grpo": {**grpo, "reward_models": ["judge", "a_es"]}})[0]
    assert carb.rewarding == ["judge", "a_es"]
    models = [carb.grpo_models(name)["reference"] for name in carb.rewarding]
    assert models == [{"kind": "generative", "model": "a"}, {"source": {"kind": "pypi"}}]
    assert carb.grpo_models("a_es")["source"] == {"kind": "random"}


BASE = f"{FOLDER}/1_sources/models/a"


@pytest.mark.parametrize(
    ("scorer", "source", "model", "more"),
    [
        ("a_es", f"{FOLDER}/4_models/a_es", "a", {"kind": "classifier"}),
        ("loglik-a", BASE, "a", {"kind": "implicit", "pmi": False}),
        ("pmi-a", BASE, "a", {"kind": "implicit", "pmi": True}),
        ("mine", "rm", MINE, {"kind": "classifier", "code": code_at("polyreward.scoring.load:classifier")}),
    ],
)
def test_each_scorer_is_loaded_from_its_folder(carb, scorer, source, model, more):
    assert carb.entry(scorer) == {"source": source, **more}
    assert (carb.folders(scorer), carb.model(scorer)) == ([source], model)
    states = [f"{FOLDER}/5_scores/frozen/a/carb.safetensors"]  # of trained ones
    assert carb.item_states(scorer) == (states if scorer == "a_es" else [])


def test_the_pattern_fits_what_carb_scores_but_what_is_left_out(carb):
    pattern = re.compile(carb.pattern(left_out=["judge"]))
    names = ("a_en", "mine", "loglik-a", "pmi-a", "judge", "a_ko", "length")
    assert [name for name in names if pattern.fullmatch(name)] == ["a_en", "mine", "loglik-a", "pmi-a"]


def test_files_are_listed_scorer_by_scorer_and_policy_by_policy(carb):
    def paths(benchmark, *names):
        return [f"{FOLDER}/5_scores/{benchmark}/{name}.parquet" for name in names]

    assert carb.score_files(["x", "y"]) == paths("carb", "x/ar", "x/ko", "y/ar", "y/ko")
    assert carb.candidate_scores("xy") == paths("candidates", "x/p", "y/p", "x/q", "y/q")
    assert len(carb.perturbed_score_files(["s", "t"], ["x"])) == 4


def test_items_are_built_or_the_user_s_own(carb):
    assert carb.answers.endswith("possible_items.jsonl")
    assert set(carb.item_sources) == {"references", "possible", "similarities"}
    assert set(carb.rewrite_sources) == {"references", "cultures", "wordings"}
    wordings = [Path(path).stem for path in carb.rewrite_sources["wordings"]]
    assert wordings == ["commonsense", "requests", "rules", "sayings"]
    assert (carb.built_cultures, carb.built_domains) == (["ar", "ko"], ["food"])
    own = made({"item_files": ["mine.json"]})[0]
    assert (own.item_sources, own.rewrite_sources) == ({"given": ["mine.json"]}, {})
    assert own.item_files == carb.item_files  # what everything else reads
    # judges are still trained on topics that are built here, of all their cultures and domains
    assert own.built_cultures == ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
    assert own.built_cultures == list(own.training_items)
    assert own.built_domains == ["commonsense", "linguistics", "safety", "values"]


def test_generators_write_the_answers_and_the_second_wordings():
    writer = {"kind": "generative", "path": "writer"}
    carb = made({"generators": {"g": writer}})[0]
    assert carb.answers.endswith("completions.jsonl")
    assert carb.rewrite_sources["paraphrases"].endswith("paraphrases.jsonl")


def test_which_scores_have_a_zero():
    more = {
        "texts": {"kind": "generative", "model": "a", "verdict": "text"},
        "dpo": {"kind": "implicit", "model": "a", "reference": {"model": "a"}},
    }
    zeros = {"judge": "log-odds", "texts": "shares", "dpo": "own", "length": "own"}
    assert made(reward_models=more)[0].zeros == zeros


def test_judges_of_think_as_locals(locals_):
    assert {name: entry["verdict"] for name, entry in locals_.judges.items()} == {
        "base": "no-criteria", "base-with-criteria": "criteria", "warmup": "criteria", "full": "criteria", "bare": "criteria",
        "no-criteria": "no-criteria",
    }  # fmt: skip
    assert locals_.compared == ["base", "base-with-criteria", "warmup", "full", "no-criteria"]
    assert "think_as_locals" not in locals_.judges["base-with-criteria"]  # the base itself
    asked = {"kind": "generative", "verdict": "criteria", "think_as_locals": "full"}
    assert locals_.judges["full"] == {**asked, **LOCALS["judge"]}
    assert locals_.start("full-2") == f"{FOLDER}/4_models/locals/warmup"
    assert locals_.start("no-criteria") == f"{FOLDER}/4_models/locals/warmup-at-once"
    assert (locals_.criteria("bare"), locals_.criteria("no-criteria")) == (True, False)
    assert locals_.training_items == [locals_.carb.training_items["ko"]]
    assert locals_.scoring["token_budget"] == 8


def test_without_a_warm_up_training_starts_from_the_base():
    found = made(locals_={"warmup": None})[1]
    assert found.start("full") == found.start("no-criteria") == f"{FOLDER}/1_sources/models/a"
    assert (found.trained, found.writing) == (["full", "bare", "no-criteria"], ["full", "bare"])
    assert found.pairs == {"warmup": 0, "grpo": 6, "held_out": 3}
    assert found.learners == ["base-with-criteria", "full", "bare", "full-2", "full-3"]


def test_full_is_trained_once_for_each_seed_and_what_it_learns_is_measured(locals_):
    assert list(locals_.repeats) == ["full-2", "full-3"]
    once = {name: [name] for name in ("base-with-criteria", "warmup", "bare")}
    assert locals_.learner_seeds == {**once, "full": ["full", "full-2", "full-3"]}
    assert locals_.rewards("full-2") == locals_.rewards("full") != locals_.rewards("bare")
    seeds = [locals_.grpo_seed(name) for name in ("full", "bare", "full-2", "full-3")]
    assert seeds[0] == seeds[1] and len(set(seeds)) == 3


def test_easy_pairs_are_asked_for_where_there_are_some(locals_):
    assert (locals_.easy_shares, locals_.easy_files) == ({"warmup": 0.0, "grpo": 0.0}, [])
    found = made(locals_={"easy": {"dataset": "d", "warmup": 0.5, "grpo": 0.1}})[1]
    assert found.easy_shares == {"warmup": 0.5, "grpo": 0.1}
    assert found.easy_files == [f"{FOLDER}/1_sources/data/d.jsonl"]


def test_a_run_is_named_by_the_rewards_that_it_lacks(locals_):
    names = locals_.names(["full", "bare", "no-criteria"])
    assert list(names.values()) == ["all rewards", "without layout", "trained without criteria"]


def test_a_policy_starts_from_supervised_training_where_there_is_some():
    assert made()[2].policy_start == f"{FOLDER}/2_prepared/models/p"  # random
    assert made(alignment={"sft": {"epochs": 1}})[2].policy_start == f"{FOLDER}/4_models/policies/sft"
