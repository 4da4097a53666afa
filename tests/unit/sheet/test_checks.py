"""Settings with wrong keys and values, that name what there is not, or that do not fit together."""

import copy
import dataclasses
from operator import attrgetter

import pytest
from settings_data import (
    CATALOG,
    CONFIG,
    LEFT_OUT,
    QUESTIONS,
    SERVE,
    WEIGHTS,
    changed,
    load,
    problems,
    problems_of,
    settings_with,
)
from snakemake.utils import update_config
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.settings.messages import Places
from polyreward.settings.model import Settings
from polyreward.sheet.catalogs import Catalog, Project, read_catalogs
from polyreward.sheet.checks import NAMES, check_catalogs

JUDGE = {"kind": "generative", "model": "gemma"}
GRPO = {**load("workflow/scales/tiny.yaml")["carb"]["grpo"], "policy": "gemma", "reward_models": None}


@pytest.mark.parametrize("changes", [
    {},
    {"bases": []},  # nothing is asked of one then
    {"reward_model__cache_frozen_layers": False, "reward_model__lora": None},
    {"carb__grpo": GRPO},
    {"carb__grpo": {**GRPO, "reward_models": ["gemma_ko", "gemma-judge"]}},
    {"own_benchmarks": {"b": {"path": __file__, "language": "pt"}}},  # any language of CLDR
    {"own_benchmarks": {"b": {"dataset": "gsm-symbolic", "language": "it"}, "c": None}},  # null: left out
])  # fmt: skip
def test_a_good_configuration_has_no_problem(changes):
    assert problems(**changes) == []


@pytest.mark.parametrize(
    ("change", "key", "phrase"),
    [
        ({"sed": 1}, "sed", "unknown key; did you mean `seed`?"),
        ({"gate__colour": "red"}, "gate.colour", "unknown key; there are base, seeds"),
        ({"gate__seeds": LEFT_OUT}, "gate.seeds", "Field required"),
        ({"gate": None}, "gate", "valid dictionary"),
        ({"seed": "7"}, "seed", "valid integer, not '7'; YAML reads it as text"),
        ({"seed": True}, "seed", "valid integer, not True"),
        ({"reward_model__epochs": 0}, "reward_model.epochs", "greater than 0, not 0"),
        ({"reward_model__epochs": float("inf")}, "reward_model.epochs", "finite number"),
        ({"reward_model__learning_rate": "1e-5"}, "reward_model.learning_rate", "with a point, as in 1.0e-5"),
        ({"results": "a b"}, "results", "match pattern"),
        ({"precision": "bf16"}, "precision", "'float32' or 'bfloat16', not 'bf16'"),
        ({"target_languages": []}, "target_languages", "at least 1 item"),
        ({"bases": ["gemma", "gemma"]}, "bases", "has `gemma` more than once; leave one"),
        ({"target_languages": [False]}, "target_languages", "put it in quotes"),
        ({"gate": {**CONFIG["gate"], 1: 2}}, "gate", "Keys should be strings"),
        ({"reward_models": {"r": {"kind": "classifer", "path": "x"}}}, "reward_models.r", "has to be classifier, "),
        ({"reward_models": {"r": {"kind": "classifier"}}}, "reward_models.r", "must have exactly one of model"),
        ({"reward_models": {"r": {"kind": "classifier", "hub": None}}}, "reward_models.r.hub", "valid string"),
        ({"reward_models": {"r": {"kind": "classifier", "hub": "https://huggingface.co/a/b"}}}, "reward_models.r.hub", "without an address"),
        ({"reward_models": {"r": {"kind": "classifier", "hub": "a/b", "revision": 123}}}, "reward_models.r.revision", "put it in quotes"),
        ({"reward_models": {1.0: {"kind": "classifier", "path": "x"}}}, "reward_models.1.0", "not 1.0; YAML reads it as a number: put it in quotes"),
        ({"reward_models": {"a/b": {"kind": "classifier", "path": "x"}}}, "reward_models.a/b", "write it in letters from A to Z"),
        ({"carb__generators": {"g": {"kind": "classifier"}}}, "carb.generators.g", "`kind: generative`"),
        ({"translation__engines__lm__kind": "l"}, "translation.engines.lm", "gettext, lm or seq2seq"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(change, key, phrase):
    (found,) = problems(**change)
    assert found.startswith(f"{key}: ") and phrase in found


def test_every_wrong_key_and_value_is_listed_at_once_with_its_line():
    found = list(problems_of(changed(sed=1, gate__seeds="x", seed="y")))
    assert [problem.key for problem in found] == [("seed",), ("gate", "seeds"), ("sed",)]
    assert len(problems(bases=["x", "y", "gemma"], source_language="qq", gate__base="z")) == 4


def keys_of(settings, key=()):
    for name, value in settings.items():
        yield (*key, name)
        if isinstance(value, dict):
            yield from keys_of(value, (*key, name))


@pytest.mark.parametrize("value", [None, ["x", {}], {"x": {"y": []}}, {1: 2}], ids=str)
def test_whatever_stands_at_a_key_is_a_problem_in_words_or_fine(value):
    places = Places([ROOT / "config.yaml"])
    for key in keys_of(CONFIG):
        for problem in problems_of(changed(**{"__".join(key): value})):
            assert problem.placed(places)


@pytest.mark.parametrize("setting", NAMES)
def test_a_name_that_is_not_in_its_catalog_is_named_with_those_that_are(setting):
    value = attrgetter(setting)(settings_with({}))
    wrong = ["zz", "en"] if isinstance(value, list) or setting in LISTS else "zz"
    found = problems(**{setting.replace(".", "__"): wrong})
    assert any(one.startswith(f"{setting}: `zz` is unknown; ") and " has " in one for one in found)


LISTS = {name for name in NAMES if name.endswith(("models", "bases", "table2", "tables", "cultures"))}


def test_the_nearest_known_name_is_suggested():
    assert problems(bases=["gema", "gemma"])[0].endswith("did you mean `gemma`?")
    assert "did you mean" not in problems(bases=["zzz", "gemma"])[0]


def reward_model(**entry):
    return {"reward_models": {"r": entry}}


@pytest.mark.parametrize(
    ("change", "key", "phrase"),
    [
        ({"benchmarks__twins": "mini"}, "benchmarks.twins", "holds no twins"),
        ({"reward_model__depth": {"gemaa": 10}}, "reward_model.depth", "`gemaa` is unknown"),
        ({"reward_model__depth": {"gemma": 1}}, "reward_model", "no layer is left to freeze"),
        ({"pool__datasets": ["mini-pool", "korean"]}, "pool.datasets", "no pairs in `en`"),
        ({"alignment__reference": "gemma-rm"}, "alignment.reference", "no judge that writes"),
        ({"alignment__instructions": "bare"}, "alignment.reference", "brings no reference answers"),
        ({"devices__launch": "no.yaml"}, "devices.launch", "no such file"),
        ({"devices__serve": {**SERVE, "command": ["vllm", "{port}"]}}, "devices.serve.command", "{model}"),
        ({"devices__serve": {**SERVE, "command": ["vllm", "{model}"]}}, "devices.serve.command", "{port}"),
        ({"translation__engine": {"es": "gettext"}}, "translation.engine", "no engine for `ko`"),
        ({"translation__engine": {"default": "lm", "de": "lm"}}, "translation.engine.de", "target_languages"),
        ({"language_folders": {"de": "nowhere"}}, "language_folders.de", "there is no folder `nowhere`"),
        ({"translation__engines__lm__model": {"es": "gemma"}}, "translation.engines.lm.model", "no model for `ko`"),
        ({"translation__engines__lm__model": "gpt"}, "translation.engines.lm.model", "`gpt` is unknown"),
        ({"own_benchmarks": {"b": {"path": __file__, "language": "xx"}}}, "own_benchmarks.b.language", "CLDR"),
        ({"own_benchmarks": {"mini": {"path": "x", "language": "es"}}}, "own_benchmarks.mini", "another name"),
        ({"own_benchmarks": {"b": {"path": "x", "language": "es", "layout": "hh"}}}, "own_benchmarks.b.layout", "unknown"),
        ({"own_benchmarks": {"b": {"language": "es"}}}, "own_benchmarks.b", "exactly one of path and dataset"),
        ({"own_benchmarks": {"b": {"path": "x", "dataset": "gsm-symbolic", "language": "en"}}}, "own_benchmarks.b", "exactly one"),
        ({"own_benchmarks": {"b": {"dataset": "exams", "language": "ko"}}}, "own_benchmarks.b.dataset", "of kind pypi, has gsm-symbolic"),
        ({"own_benchmarks": {"b": {"dataset": "gsm-symbolic", "language": "es"}}}, "own_benchmarks.b.language",
         "no `es` that people checked; it has en, it, zh"),
        (reward_model(kind="classifier", path="nowhere"), "reward_models.r.path", "no model folder"),
        (reward_model(kind="classifier", path="results/work/4_models/none_es"), "reward_models.r.path", "or train it first"),
        (reward_model(kind="implicit", model="gema"), "reward_models.r.model", "`gema` is unknown"),
        (reward_model(kind="implicit", model="gemma", reference={"path": "x"}), "reward_models.r.reference.path", "no model"),
        (reward_model(kind="generative", think_as_locals="ful"), "reward_models.r.think_as_locals", "is unknown"),
        ({"carb__generators": {"g": {"kind": "generative", "path": "x"}}}, "carb.generators.g.path", "no model"),
        ({"carb__lessons__bases": 3}, "carb.lessons.bases", "`bases` names 1"),
        ({"carb__quartets__languages": ["kr"]}, "carb.quartets.languages", "`kr` is unknown"),
        ({"carb__knockout": ["gemma-rm"]}, "carb.knockout", "`gemma-rm` is unknown"),
        ({"carb__questions": ["gone"]}, "carb.questions", "no set of questions; name one of exams"),
        ({"carb__questions": ["mini-eval"]}, "carb.questions", "no set of questions"),
        ({"carb__questions": [QUESTIONS, "x/questions.jsonl"]}, "carb.questions", "name of another set"),
        ({"carb__questions": ["exams"], "carb__cultures": ["en", "es", "zh", "de"]}, "carb.questions", "none of"),
        ({"carb__grpo": {**GRPO, "policy": "gema"}}, "carb.grpo.policy", "`gema` is unknown"),
        ({"carb__grpo": {**GRPO, "reward_models": ["gemma_es", "gemma_it"]}}, "carb.grpo.reward_models", "`gemma_it`"),
        ({"carb__grpo": {**GRPO, "generations": 3}}, "carb.grpo.batch_size", "make it a multiple of 3"),
        ({"carb__grpo": {**GRPO, "iterations": 2}}, "carb.grpo.save_every", "no multiple of iterations"),
        ({"carb__cultures": ["en", "es"]}, "carb.cultures", "name more, or `item_files`"),
        ({"templates_per_section": {"pool": None, "main": 1}}, "templates_per_section.main", "one template in a section"),
        ({"think_as_locals__evaluation": {"cultures": ["en"], "items_per_cell": 1, "rows_per_subset": 1}},
         "think_as_locals.evaluation.items_per_cell", "one item in a domain"),
        ({"think_as_locals__runs__warmup": WEIGHTS}, "think_as_locals.runs.warmup", "another name"),
        ({"think_as_locals__runs__full-2": WEIGHTS}, "think_as_locals.runs.full-2", "another name"),
        ({"think_as_locals__runs": {"no-criteria": WEIGHTS}}, "think_as_locals.runs", "has no `full`"),
        ({"think_as_locals__runs": {"full": WEIGHTS}}, "think_as_locals.runs", "has no `no-criteria`"),
        ({"think_as_locals__others": ["gemma-judg"]}, "think_as_locals.others", "`gemma-judg` is unknown"),
        ({"think_as_locals__others": ["gemma-rm"]}, "think_as_locals.others", "no judge that writes"),
        ({"think_as_locals__others": ["full"], "reward_models": {"full": JUDGE}}, "think_as_locals.others", "too"),
        ({"think_as_locals__data_shares": {"own": 0.6, "x": 0.1}}, "think_as_locals.data_shares", "is unknown"),
        ({"think_as_locals__grpo__generations": 32}, "think_as_locals.grpo.batch_size", "a multiple of 64"),
        ({"reward_models": {"gemma-judge": JUDGE}}, "reward_models.gemma-judge", "another name"),
        ({"reward_models": {"r-knockout": JUDGE}}, "reward_models.r-knockout", "another name"),
        ({"judge_questions": {"mine": "no.yaml"}}, "judge_questions.mine", "there is no file `no.yaml`"),
        (reward_model(**JUDGE, verdict="text", question="no"), "reward_models.r", "`no` is unknown"),
        (reward_model(**JUDGE, question="rewardbench"), "reward_models.r", "more than a label"),
        (reward_model(**JUDGE, question="alpacaeval", verdict="criteria"), "reward_models.r", "text or labels"),
        ({"target_languages": ["es", "en"]}, "target_languages", "`en` is the source language"),
        ({"reward_model__lora": None}, "reward_model.cache_frozen_layers", "no layer is frozen"),
        ({"reward_model__gradient_checkpointing": True}, "reward_model.token_budget", "not in parts"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_key_and_what_to_do(change, key, phrase):
    (found,) = problems(**change)
    assert found.startswith(f"{key}: ") and phrase in found


def test_the_question_of_a_judge_from_elsewhere_is_checked():
    entries = {"rm-r1": {"kind": "generative", "hub": "a/b", "question": "rewardbench"}}
    catalog = dataclasses.replace(CATALOG, reward_models={**CATALOG.reward_models, **entries})
    (found,) = problems(catalog, think_as_locals__others=["rm-r1", "gemma-judge"])
    assert found.startswith("think_as_locals.others: `rm-r1`") and "more than a label" in found
    entries["rm-r1"]["verdict"] = "text"
    assert problems(catalog, think_as_locals__others=["rm-r1", "gemma-judge"]) == []


def test_every_scale_is_a_configuration():
    check_catalogs(read_catalogs(Project(ROOT), {}, ROOT))
    for scale in sorted((ROOT / "workflow/scales").glob("*.yaml")):
        config = copy.deepcopy(load("config.yaml"))
        if scale.stem.startswith("paper_"):
            update_config(config, load("workflow/scales/paper.yaml"))
        update_config(config, load(scale))
        catalog = read_catalogs(Project(ROOT), config.get("language_folders", {}), ROOT)
        assert list(map(str, problems_of(config, catalog))) == []


def test_wrong_entries_of_the_catalogs_are_named(monkeypatch):
    monkeypatch.chdir(ROOT)
    entries = load("workflow/catalog/reward_models.yaml")
    first = next(iter(entries))
    catalog = Catalog({}, {**entries, first: {**entries[first], "colour": "red"}}, {"mini-eval": {}}, {"mini": {"dataset": "mini-evl"}}, {})  # fmt: skip
    with pytest.raises(PolyrewardError) as caught:
        check_catalogs(catalog)
    _, entry, benchmark = str(caught.value).splitlines()
    assert entry.startswith("  - workflow/catalog/reward_models.yaml:")
    assert f": {first}.colour: unknown key" in entry
    assert "mini.dataset: `mini-evl` is unknown" in benchmark
    assert benchmark.endswith("did you mean `mini-eval`?")


def test_no_key_without_a_default_may_be_missing():
    for key in (name for name, field in Settings.model_fields.items() if field.is_required()):
        assert f"{key}: Field required" in problems(**{key: LEFT_OUT})
