"""The settings: what their classes refuse, what must fit together, where it stands, and the reference written from them."""

import copy
import json
import subprocess
import sys
from types import SimpleNamespace

import jsonschema
import pytest
import yaml
from snakemake.utils import update_config
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.running.settings import Known, Places, Settings, check_catalogs, check_settings, settings_problems
from polyreward.running.settings.checks import NAMES
from polyreward.running.settings.problems import Problem
from polyreward.running.settings.reference import page_text, reference, schema_text


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


KNOWN = Known(
    models={"gemma": {}, "smollm": {}},
    reward_models={"gemma-judge": {"kind": "generative"}, "gemma-rm": {"kind": "classifier"}},
    datasets={"mini-pool": {}, "mini-eval": {}, "bare": {"columns": {"prompt": "instruction"}}},
    benchmarks={"mini": {"twins": False}, "mini-twins": {"twins": True}},
    languages=dict.fromkeys(["de", "en", "es", "ko", "zh"]),
)
CHANGES = {
    "bases": ["gemma"],
    "source_language": "en",
    "target_languages": ["es", "ko"],
    "pool": {"datasets": ["mini-pool"]},
    "benchmarks": {"main": "mini", "twins": "mini-twins"},
    "passages": "mini-eval",
    "carb": {
        "cultures": ["en", "es", "de", "zh"],
        "embedding": {"model": "gemma"},
        "knockout": [],
        "example_culture": "en",
        "questions": __file__,
        "policies": ["gemma"],
    },
    "locals": {"base": "gemma", "criteria": __file__, "evaluation": {"cultures": ["en"]}},
    "off_the_shelf": ["gemma-judge"],
    "alignment": {
        "policy": "gemma",
        "reward_base": "gemma",
        "languages": ["es"],
        "instructions": "mini-eval",
        "judge": "gemma-judge",
    },
    "gate": {"base": "gemma"},
    "translation": {"quality_engines": ["gettext", "lm"]},
}
CONFIG = copy.deepcopy(load("config.yaml"))
update_config(CONFIG, CHANGES)
LM = CONFIG["translation"]["engines"].pop("gemma-3-270m")
CONFIG["translation"]["engines"]["lm"] = {**LM, "model": "smollm"}
SERVE = {"startup_s": 1, "concurrency": 1, "timeout_s": 1, "retries": 0}
WEIGHTS = {"correctness": 1, "appropriateness": 1, "layout": 1}
LEFT_OUT = object()


def changed(**changes):
    """Return the good configuration with changes; a key `a__b` changes b in a, and LEFT_OUT takes it away."""
    config = copy.deepcopy(CONFIG)
    for key, value in changes.items():
        *outer, last = key.split("__")
        inner = config
        for name in outer:
            inner = inner[name]
        inner[last] = value
        if value is LEFT_OUT:
            del inner[last]
    return config


def problems(known=KNOWN, **changes):
    return list(map(str, settings_problems(changed(**changes), known)))


def test_a_good_configuration_has_no_problem():
    assert problems() == []


def test_twins_must_be_twins():
    (problem,) = problems(benchmarks__twins="mini")
    assert "holds no twins" in problem


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"bases": ["gema", "gemma"]}, "bases: `gema` is unknown; workflow/catalog/models.yaml has gemma, smollm; did"),
        ({"target_languages": ["es", "qq"]}, "target_languages: `qq` is unknown; resources/languages.yaml has de, en, es, ko"),
        ({"source_language": "qq"}, "source_language: `qq` is unknown; resources/languages.yaml has"),
        ({"pool__datasets": ["mini-pol"]}, "pool.datasets: `mini-pol` is unknown; workflow/catalog/datasets.yaml has"),
        ({"benchmarks__main": "mimi"}, "benchmarks.main: `mimi` is unknown; workflow/catalog/benchmarks.yaml has mini,"),
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
            {"devices__serve": {**SERVE, "command": ["vllm", "{port}"]}},
            "devices.serve.command: has no {model}, from which the server learns",
        ),
        (
            {"devices__serve": {**SERVE, "command": ["vllm", "{model}"]}},
            "devices.serve.command: has no {port}, from which the server learns",
        ),
        ({"gate__base": "smollm"}, "gate.base: `smollm` is unknown; bases has gemma"),
        ({"translation__engine": "gettex"}, "translation.engine: `gettex` is unknown; translation.engines has gettext, lm; did"),
        ({"translation__quality_engines": ["nllb"]}, "translation.quality_engines: `nllb` is unknown; translation.engines has"),
        (
            {"translation__engines__lm__model": {"es": "gemma"}},
            "translation.engines.lm.model: has no model for `ko`, one of target_languages; add it",
        ),
        (
            {"translation__engines__lm__model": {"es": "gemma", "ko": "gpt"}},
            "translation.engines.lm.model.ko: `gpt` is unknown; w",
        ),
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
        ({"carb__cultures": ["en", "es", "de", "xx"]}, "carb.cultures: `xx` is unknown; resources/languages.yaml has de, en"),
        ({"carb__embedding__model": "gema"}, "carb.embedding.model: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"carb__filters__nearest": 0.1, "carb__filters__farthest": 0.1}, "carb.filters: `farthest` is not below `nearest`"),
        ({"carb__generators": {"g": {"kind": "generative", "path": "x"}}}, "carb.generators.g.path: `x` is no model folder"),
        ({"carb__knockout": ["gemma-rm"]}, "carb.knockout: `gemma-rm` is unknown; generative ones of off_the_shelf and"),
        ({"carb__policies": ["gema"]}, "carb.policies: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"carb__example_culture": "ko"}, "carb.example_culture: `ko` is unknown; carb.cultures has de, en, es, zh"),
        ({"carb__questions": "no.yaml"}, "carb.questions: there is no file `no.yaml`"),
        ({"own_benchmarks": {"carb": {"path": __file__, "language": "es"}}}, "own_benchmarks.carb: there is a benchmark of"),
        (
            {"reward_models": {"r-knockout": {"kind": "generative", "model": "gemma"}}},
            "reward_models.r-knockout: a judge in a knock-out is named so",
        ),
        ({"passages": "mini-eva"}, "passages: `mini-eva` is unknown; workflow/catalog/datasets.yaml has"),
        ({"locals__base": "gema"}, "locals.base: `gema` is unknown; workflow/catalog/models.yaml has"),
        ({"locals__datasets": ["nope"]}, "locals.datasets: `nope` is unknown"),
        ({"locals__evaluation__cultures": ["ko"]}, "locals.evaluation.cultures: `ko` is unknown; carb.cultures has"),
        ({"locals__criteria_language": "it"}, "locals.criteria_language: `it` is unknown; carb.cultures has"),
        ({"locals__criteria": "no.yaml"}, "locals.criteria: there is no file `no.yaml`"),
        ({"locals__runs__warmup": WEIGHTS}, "locals.runs.warmup: a judge of another kind is named so"),
        ({"locals__runs": {"no-corr": WEIGHTS}}, "locals.runs: has no `full`"),
        ({"locals__grpo__generations": 16}, "locals.grpo.batch_size: times gradient_accumulation is 16, no multiple of twice"),
        ({"locals__grpo__save_every": 3}, "locals.grpo.save_every: is no multiple of iterations"),
        (
            {"reward_models": {"mine": {"kind": "generative", "locals": "ful"}}},
            "reward_models.mine.locals: `ful` is unknown; locals.runs has full, no-appr, no-corr, warmup; did you mean `full`?",
        ),
        ({"carb__training_share": 0}, "carb.training_share: is 0, so that `locals` has no topic left to train on"),
        (
            {"reward_models": {"gemma-judge": {"kind": "generative", "model": "gemma"}}},
            "reward_models.gemma-judge: off_the_shelf",
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
    assert problems(reward_model__cache_frozen_layers=False, reward_model__lora=None) == []


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
        ({"reward_model__token_budget": 0}, "reward_model.token_budget: `0` is not a whole number of 1 or more or null"),
        ({"results": "a b"}, "results: `a b` is not a path of letters"),
        ({"precision": "bf16"}, "precision: `bf16` is not one of float32, bfloat16, auto"),
        ({"carb__rating": "chfr"}, "carb.rating: `chfr` is not one of match, chrf; did you mean `chrf`?"),
        ({"bases": []}, "bases: `[]` is not a list of 1 or more"),
        ({"bases": "gemma"}, "bases: `gemma` is not a list of 1 or more"),
        ({"bases": ["gemma", "gemma"]}, "bases: has `gemma` more than once; leave one"),
        ({"bases": ["gemma", 1]}, "bases: `1` is not text"),
        ({"target_languages": [False]}, "target_languages: `false` is not text; YAML reads a bare yes, no"),
        ({"source_language": "EN"}, "source_language: `EN` is not a language code of two or three small letters"),
        ({"reward_models": {"r": {"kind": "classifer", "path": "x"}}}, "reward_models.r.kind: `classifer` is not one of class"),
        ({"reward_models": {"r": {"path": "x"}}}, "reward_models.r.kind: is missing; give one of classifier, implicit, generat"),
        ({"reward_models": {"r": 3}}, "reward_models.r: `3` is not a section of keys"),
        ({"reward_models": {"r": {"kind": "classifier"}}}, "reward_models.r: must have exactly one of model, path, hub and lo"),
        (
            {"reward_models": {"r": {"kind": "generative", "server": {"url": "http://a"}}}},
            "reward_models.r.server.model: is miss",
        ),
        ({"reward_models": {"r": {"kind": "classifier", "hub": None}}}, "reward_models.r.hub: `null` is not text"),
        ({"reward_models": {"r_m": {"kind": "classifier", "hub": "a/b"}}}, "reward_models.r_m: `r_m` is not a name of letters"),
        ({"carb__generators": {"g": {"kind": "classifier", "hub": "a"}}}, "carb.generators.g.kind: `classifier` is not generat"),
        ({"translation__engines__lm__prompt": "x"}, "translation.engines.lm.prompt: `x` is not text with {text} in it"),
        ({"translation__engines__lm__model": {}}, "translation.engines.lm.model: `{}` is not entries by name"),
        ({"gate": {**CONFIG["gate"], 1: 2}}, "gate.1: `1` is not text; YAML reads it as another kind of value: put it in quotes"),
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
        reward_model__bf16=True, locals__judge__dtype="float32", translation__engines__lm__dtype="float32",
    )  # fmt: skip
    named = [problem.split(": there is one setting")[0] for problem in found]
    expected = ["carb.embedding.dtype", "reward_model.bf16", "locals.judge.dtype", "translation.engines.lm.dtype"]
    assert sorted(named) == sorted(expected)


def test_keys_values_names_and_what_does_not_fit_are_listed_at_once():
    found = problems(sed=1, gate__seeds="x", bases=["gema", "gemma"], reward_model__gradient_checkpointing=True)
    assert [problem.split(": ")[0] for problem in found] == ["gate.seeds", "sed", "bases", "reward_model.token_budget"]


def test_what_needs_a_wrong_value_is_not_reported_on_top_of_it():
    (problem,) = problems(bases=3)  # gate.base and alignment.reward_base are names of it
    assert problem.startswith("bases: ")
    (problem,) = problems(reward_models={"r": {"kind": "generative", "model": "gemma", "beta": 1}}, carb__knockout=["r"])
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


def test_every_setting_that_holds_a_name_is_one():
    for setting in NAMES:
        value = CONFIG
        for key in setting.split("."):
            value = value[key]


def test_every_scale_is_a_configuration():
    names = ("models", "reward_models", "datasets", "benchmarks")
    known = Known(*(load(f"workflow/catalog/{name}.yaml") for name in names), load("resources/languages.yaml"))
    check_catalogs(known)
    for scale in sorted((ROOT / "workflow/scales").glob("*.yaml")):
        config = copy.deepcopy(load("config.yaml"))
        if scale.stem.startswith("paper_"):
            update_config(config, load("workflow/scales/paper.yaml"))
        update_config(config, load(scale))
        assert [str(one) for one in settings_problems(config, known) if "there is no file" not in str(one)] == []


def test_no_key_of_the_configuration_may_be_missing():
    for key in CONFIG:
        assert f"{key}: is missing; give" in "\n".join(problems(**{key: LEFT_OUT}))


# --- catalogs


def test_a_benchmark_of_an_unknown_dataset_is_named():
    known = Known({}, {}, {"mini-eval": {}}, {"mini": {"dataset": "mini-evl"}, "good": {"dataset": "mini-eval"}}, {})
    with pytest.raises(PolyrewardError) as caught:
        check_catalogs(known)
    (problem,) = str(caught.value).splitlines()[1:]
    assert "mini.dataset: `mini-evl` is unknown" in problem
    assert problem.endswith("did you mean `mini-eval`?")


def test_a_wrong_entry_of_the_catalog_of_reward_models_is_named(monkeypatch):
    monkeypatch.chdir(ROOT)
    entries = load("workflow/catalog/reward_models.yaml")
    first = next(iter(entries))
    with pytest.raises(PolyrewardError) as caught:
        check_catalogs(Known({}, {**entries, first: {**entries[first], "colour": "red"}}, {}, {}, {}))
    (problem,) = str(caught.value).splitlines()[1:]
    assert problem.startswith("  - workflow/catalog/reward_models.yaml:")
    assert f": {first}.colour: unknown key" in problem


# --- where a setting stands


@pytest.fixture
def files(tmp_path):
    (tmp_path / "config.yaml").write_text("# comment\nseed: 1\npool:\n  datasets: [a, b]\n  dev_share: 0\nlist:\n  - x\n  - y\n")
    (tmp_path / "one.yaml").write_text("seed: 2\npool: {dev_share: 1}\nq.5: {a: 1}\n")
    (tmp_path / "two.yaml").write_text("\n\nseed: 3\n")
    return tmp_path


@pytest.mark.parametrize(
    ("key", "place"),
    [
        (("seed",), "two.yaml:3"),
        (("pool", "dev_share"), "one.yaml:2"),
        (("pool", "datasets"), "config.yaml:4"),
        (("pool", "datasets", 1), "config.yaml:4"),
        (("pool", "max_pairs"), "one.yaml:2"),  # missing: where its section is
        (("list", 1), "config.yaml:8"),
        (("q.5", "a"), "one.yaml:3"),
        (("gate",), "config.yaml"),
        (("bases",), "--config"),
        (("locals", "base"), "--config"),
        (("locals",), "--config"),
    ],
)
def test_a_setting_is_found_in_the_file_that_counts(files, monkeypatch, key, place):
    monkeypatch.chdir(files)
    given = {"bases": ["x"], "locals": {"base": "x"}}
    overlays = [files / "one.yaml", files / "two.yaml"]
    workflow = SimpleNamespace(
        overwrite_configfiles=overlays, configfiles=[*overlays, "config.yaml"], config_settings=SimpleNamespace(config=given)
    )
    assert Places.given(workflow).of(key) == place


def test_a_file_that_is_no_yaml_has_no_lines(tmp_path):
    (tmp_path / "a.yaml").write_text("{a: [")
    assert Places([tmp_path / "a.yaml"]).of(("a",)) == str(tmp_path / "a.yaml")


def test_a_problem_shows_its_file_line_and_key(files, monkeypatch):
    monkeypatch.chdir(files)
    problem = Problem(("pool", "datasets", 0), "`a` is unknown")
    assert problem.placed(Places(["config.yaml"])) == "config.yaml:4: pool.datasets: `a` is unknown"


def test_problems_are_listed_in_the_order_of_the_files(files):
    overlay = files / "overlay.yaml"
    overlay.write_text("gate: {seeds: x}\nsed: 1\n")
    with pytest.raises(PolyrewardError) as caught:
        check_settings(changed(gate__seeds="x", sed=1, seed="y"), KNOWN, Places([overlay, files / "config.yaml"]))
    heading, *listed = str(caught.value).splitlines()
    assert heading == "configuration: 3 problems"
    assert [line.split(": ")[:2] for line in listed] == [
        [f"  - {overlay}:1", "gate.seeds"], [f"  - {overlay}:2", "sed"], [f"  - {files / 'config.yaml'}:2", "seed"],
    ]  # fmt: skip


# --- what is written from the classes


def test_the_schema_and_the_reference_page_are_up_to_date():
    for path, text in reference(load("config.yaml")).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, f"{path} is out of date; run `polyreward settings`"


def test_config_names_its_schema_for_editors():
    first = (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=workflow/schemas/config.schema.json"


def test_the_schema_takes_the_configuration_and_refuses_what_the_classes_refuse():
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    validator.check_schema(validator.schema)
    assert list(validator.iter_errors(load("config.yaml"))) == []
    for change in (
        {"sed": 1}, {"gate": LEFT_OUT}, {"seed": "minus"}, {"bases": ["a", "a"]}, {"reward_model__epochs": 0},
        {"reward_models": {"r": {"kind": "classifier"}}}, {"reward_models": {"r": {"kind": "x", "path": "x"}}},
    ):  # fmt: skip
        assert list(validator.iter_errors(changed(**change))), change


def test_the_page_has_every_key_with_its_value_and_its_meaning():
    page = page_text(load("config.yaml"))
    assert "| `seed` | a whole number of 0 or more | `42` | Root seed;" in page
    assert "| `locals.grpo.lora.rank` | a whole number of 1 or more | `8` |" in page
    assert "| `reward_models.<name>.server.url` |" in page
    assert "None" not in page


def test_every_setting_has_a_description():
    def sections(section):
        yield section
        for one in section.__subclasses__():
            yield from sections(one)

    for section in sections(Settings.__mro__[1]):
        for name, field in section.model_fields.items():
            assert field.description and field.description.endswith("."), f"{section.__name__}.{name}"


def test_the_snakefile_waits_for_no_numpy():
    script = (
        "import sys; import polyreward.running.settings; sys.exit(bool({'torch', 'transformers', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
