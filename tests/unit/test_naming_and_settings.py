"""Names, paths, seeds, and what the configuration's schema cannot say."""

import copy
import hashlib
import inspect

import pytest

from polyreward.errors import PolyrewardError, raise_all
from polyreward.naming import ModelName, Paths
from polyreward.seeds import job_seed
from polyreward.settings import catalog_problems, config_problems


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("gemma-3-270m_en", ("gemma-3-270m", "en", 1)),
        ("SmolLM2-1.7B_kor", ("SmolLM2-1.7B", "kor", 1)),
        ("tiny_zh_seed12", ("tiny", "zh", 12)),
    ],
)
def test_a_model_name_is_read_and_written_back(name, parts):
    model = ModelName.parse(name)
    assert (model.base, model.language, model.seed) == parts
    assert str(model) == name


def test_the_first_seed_is_not_in_the_name():
    assert str(ModelName("tiny", "en", 1)) == "tiny_en" == str(ModelName("tiny", "en"))


@pytest.mark.parametrize(
    "name", ["tiny", "tiny_", "tiny_EN", "tiny_english", "tiny_en_seed", "a_b_en", "../x_en", "tiny_en_seed0", "tiny_en\n", ""]
)
def test_what_is_no_model_name_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"`{name}` is no model name; write <base>_<language>"):
        ModelName.parse(name)


def paths_of(folder):
    """Return every path of a results folder, with each argument named after its parameter."""
    methods = inspect.getmembers(Paths(folder), inspect.ismethod)
    named = [(method, list(inspect.signature(method).parameters)) for name, method in methods if name != "__init__"]
    return [method(*arguments) for method, arguments in named]


def test_every_path_is_below_the_results_folder():
    assert len(paths_of("out")) > 10
    assert all(path.startswith("out/") for path in paths_of("out"))


def test_no_two_stages_share_a_path():
    assert len(set(paths_of("out"))) == len(paths_of("out"))


def test_paths_keep_every_key():
    path = Paths("out").scores("bench", "scorer", "es")
    assert all(key in path.split("/") for key in ("bench", "scorer")) and path.endswith("/es.parquet")


def test_a_seed_is_the_first_four_bytes_of_the_key_s_sha256():
    assert job_seed(42, "train", 3) == int(hashlib.sha256(b"42/train/3").hexdigest()[:8], 16)


def test_seeds_differ_by_root_and_by_key():
    assert len({job_seed(1), job_seed(2), job_seed(1, "a"), job_seed(1, "b"), job_seed(1, "a", "b")}) == 5


def test_no_problem_raises_nothing():
    raise_all([], "here")


@pytest.mark.parametrize(("problems", "heading"), [(["x"], "here: 1 problem"), (["x", "y"], "here: 2 problems")])
def test_problems_are_counted_and_listed(problems, heading):
    with pytest.raises(PolyrewardError) as caught:
        raise_all(iter(problems), "here")
    assert str(caught.value).splitlines() == [heading, *(f"  - {problem}" for problem in problems)]


MODELS = {"gemma": {}, "smollm": {}}
DATASETS = {"mini-pool": {}, "mini-eval": {}, "bare": {"columns": {"prompt": "instruction"}}}
CATALOG = {"gemma-judge": {"kind": "generative"}, "gemma-rm": {"kind": "classifier"}}
CONFIG = {
    "bases": ["gemma"],
    "figure2_models": None,
    "source_language": "en",
    "target_languages": ["es", "ko"],
    "pool": {"datasets": ["mini-pool"]},
    "benchmarks": {"main": "mini", "twins": "mini-twins"},
    "carb": {
        "cultures": ["en", "es"],
        "topics": "topics",
        "reference_files": [],
        "generators": {},
        "embedding": {"model": "gemma"},
        "filters": {"nearest": 0.9, "farthest": 0.1},
        "knockout": [],
        "example_culture": "en",
        "questions": __file__,
        "training_share": 0.2,
        "policies": ["gemma"],
    },
    "locals": {
        "base": "gemma",
        "datasets": [],
        "criteria": __file__,
        "criteria_language": None,
        "grpo": {"batch_size": 8, "gradient_accumulation": 1, "generations": 4, "iterations": 2, "save_every": 4},
        "runs": {"full": {}},
        "evaluation": {"cultures": ["en"]},
    },
    "own_benchmarks": {},
    "reward_models": {},
    "off_the_shelf": ["gemma-judge"],
    "alignment": {
        "policy": "gemma",
        "reward_base": "gemma",
        "languages": ["es"],
        "prompt_data": None,
        "instructions": "mini-eval",
        "reference": None,
        "judge": "gemma-judge",
    },
    "gate": {"base": "gemma"},
    "devices": {"launch": None, "liger": False, "serve": None},
    "translation": {
        "engine": "gettext",
        "quality_engines": ["gettext", "lm"],
        "engines": {"gettext": {"kind": "gettext"}, "lm": {"kind": "lm", "model": "smollm"}},
    },
    "reward_model": {"cache_frozen_layers": True, "lora": {"rank": 8}, "token_budget": 512, "gradient_checkpointing": False},
}


def test_twins_must_be_twins():
    (problem,) = problems(benchmarks__twins="mini")
    assert "holds no twins" in problem


def problems(**changes):
    """Return the problems of the good configuration with changes; a key `a__b` changes b in a."""
    config = copy.deepcopy(CONFIG)
    for key, value in changes.items():
        *outer, last = key.split("__")
        inner = config
        for name in outer:
            inner = inner[name]
        inner[last] = value
    benchmarks = {"mini": {"twins": False}, "mini-twins": {"twins": True}}
    return list(config_problems(config, MODELS, CATALOG, DATASETS, benchmarks, {"en", "es", "ko"}))


def test_a_good_configuration_has_no_problem():
    assert problems() == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"bases": ["gema", "gemma"]}, "bases: `gema` is unknown; workflow/catalog/models.yaml has gemma, smollm; did"),
        ({"target_languages": ["es", "qq"]}, "target_languages: `qq` is unknown; CLDR has en, es, ko"),
        ({"source_language": "qq"}, "source_language: `qq` is unknown; CLDR has"),
        ({"pool__datasets": ["mini-pol"]}, "pool.datasets: `mini-pol` is unknown; workflow/catalog/datasets.yaml has"),
        ({"benchmarks__main": "mimi"}, "benchmarks: `mimi` is unknown; workflow/catalog/benchmarks.yaml has mini,"),
        ({"off_the_shelf": ["gema-judge"]}, "off_the_shelf: `gema-judge` is unknown; workflow/catalog/reward_models.yaml has"),
        ({"alignment__policy": "gema"}, "alignment.policy: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"alignment__reward_base": "smollm"}, "alignment.reward_base: `smollm` is unknown; bases has gemma"),
        ({"alignment__languages": ["en"]}, "alignment.languages: `en` is unknown; target_languages has es, ko"),
        ({"alignment__instructions": "mini"}, "alignment.instructions: `mini` is unknown; workflow/catalog/datasets.yaml has"),
        ({"alignment__prompt_data": "mini"}, "alignment.prompt_data: `mini` is unknown; workflow/catalog/datasets.yaml has"),
        ({"alignment__reference": "gema"}, "alignment.reference: `gema` is unknown; workflow/catalog/reward_models.yaml has"),
        ({"alignment__reference": "gemma-rm"}, "alignment.reference: `gemma-rm` is no model that writes; name one of kind"),
        ({"alignment__instructions": "bare"}, "alignment.reference: `bare` brings no reference answers; name who writes them"),
        ({"figure2_models": ["gema"]}, "figure2_models: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"alignment__judge": "gema"}, "alignment.judge: `gema` is unknown; workflow/catalog/reward_models.yaml has"),
        ({"alignment__judge": "gemma-rm"}, "alignment.judge: `gemma-rm` is no judge; name one of kind generative in workflow"),
        ({"devices__launch": "no.yaml"}, "devices.launch: there is no file `no.yaml`; paths start at the project's folder"),
        (
            {"devices__serve": {"command": ["vllm", "{port}"]}},
            "devices.serve.command: has no {model}, by which the server is told",
        ),
        (
            {"devices__serve": {"command": ["vllm", "{model}"]}},
            "devices.serve.command: has no {port}, by which the server is told",
        ),
        ({"gate__base": "smollm"}, "gate.base: `smollm` is unknown; bases has gemma"),
        ({"translation__engine": "gettex"}, "translation: `gettex` is unknown; translation.engines has gettext, lm; did"),
        ({"translation__quality_engines": ["nllb"]}, "translation: `nllb` is unknown; translation.engines has"),
        (
            {"translation__engines__lm__model": {"es": "gemma"}},
            "translation.engines.lm.model, languages: `ko` is unknown; it has es",
        ),
        ({"translation__engines__lm__model": {"es": "gemma", "ko": "gpt"}}, "translation.engines.lm.model: `gpt` is unknown; w"),
        (
            {"reward_models": {"r": {"kind": "classifier", "hub": "a/b", "remote_code": True}}},
            "reward_models.r: remote_code runs what its authors wrote; pin it by `revision`",
        ),
        ({"translation__engines__lm__model": "gpt"}, "translation.engines.lm.model: `gpt` is unknown; workflow/catalog/m"),
        ({"own_benchmarks": {"b": {"path": "no.jsonl", "language": "es"}}}, "own_benchmarks.b.path: there is no file `no.jso"),
        ({"own_benchmarks": {"b": {"path": __file__, "language": "xx"}}}, "own_benchmarks.b.language: `xx` is unknown"),
        ({"own_benchmarks": {"mini": {"path": __file__, "language": "es"}}}, "own_benchmarks.mini: workflow/catalog/bench"),
        ({"reward_models": {"r": {"kind": "classifier", "path": "nowhere"}}}, "reward_models.r.path: `nowhere` is no model"),
        ({"reward_models": {"r": {"kind": "implicit", "model": "gema"}}}, "reward_models.r.model: `gema` is unknown; work"),
        (
            {"reward_models": {"r": {"kind": "implicit", "model": "gemma", "reference": {"path": "x"}}}},
            "reward_models.r.reference.path: `x` is no model folder",
        ),
        ({"carb__cultures": ["en", "xx"]}, "carb.cultures: `xx` is unknown; resources/languages.yaml has en, es, ko"),
        ({"carb__embedding": {"model": "gema"}}, "carb.embedding.model: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"carb__filters": {"nearest": 0.1, "farthest": 0.1}}, "carb.filters: `farthest` is not below `nearest`"),
        ({"carb__generators": {"g": {"path": "x"}}}, "carb.generators.g.path: `x` is no model folder"),
        ({"carb__knockout": ["gemma-rm"]}, "carb.knockout: `gemma-rm` is unknown; generative ones of off_the_shelf and"),
        ({"carb__policies": ["gema"]}, "carb.policies: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"carb__example_culture": "ko"}, "carb.example_culture: `ko` is unknown; carb.cultures has en, es"),
        ({"carb__questions": "no.yaml"}, "carb.questions: there is no file `no.yaml`"),
        ({"own_benchmarks": {"carb": {"path": __file__, "language": "es"}}}, "own_benchmarks.carb: there is a benchmark of"),
        (
            {"reward_models": {"r-knockout": {"kind": "generative", "model": "gemma"}}},
            "reward_models.r-knockout: a judge in a knock-out is named so",
        ),
        ({"carb__topics": None}, "carb: has neither `topics` nor `reference_files`; name one"),
        ({"target_languages": ["es", "en"]}, "target_languages: `en` is the source language; leave it out"),
        ({"reward_model__lora": None}, "reward_model.cache_frozen_layers: without lora no layer is frozen; set it to fa"),
        (
            {"reward_model__gradient_checkpointing": True},
            "reward_model.token_budget: gradient_checkpointing runs a batch ag",
        ),
    ],
)
def test_a_problem_is_named_with_its_key_and_what_is_known(change, problem):
    (found,) = problems(**change)
    assert found.startswith(problem)


def test_the_nearest_known_name_is_suggested():
    assert problems(bases=["gema", "gemma"])[0].endswith("did you mean `gemma`?")
    assert "did you mean" not in problems(bases=["zzz", "gemma"])[0]


def test_every_problem_is_listed():
    assert len(problems(bases=["x", "y", "gemma"], source_language="qq", gate__base="z")) == 4


def test_full_fine_tuning_without_the_cache_is_allowed():
    assert problems(reward_model={**CONFIG["reward_model"], "cache_frozen_layers": False, "lora": None}) == []


def test_a_benchmark_of_an_unknown_dataset_is_named():
    benchmarks = {"mini": {"dataset": "mini-evl"}, "good": {"dataset": "mini-eval"}}
    (problem,) = catalog_problems({"mini-eval": {}}, benchmarks)
    assert problem.startswith("benchmark mini: dataset: `mini-evl` is unknown")
    assert problem.endswith("did you mean `mini-eval`?")
