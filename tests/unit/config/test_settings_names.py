"""Settings that name what there is not, or that do not fit together; and the catalogs that they name things
of."""

import copy
import dataclasses
from operator import attrgetter

import pytest
from settings_data import KNOWN, QUESTIONS, SERVE, WEIGHTS, load, problems, settings_with
from snakemake.utils import update_config
from support import ROOT

from polyreward.config.languages import with_folders
from polyreward.config.settings import Known, check_catalogs, settings_problems
from polyreward.config.settings.checks import NAMES
from polyreward.core.errors import PolyrewardError


def test_a_good_configuration_has_no_problem():
    assert problems() == []


def test_twins_must_be_twins():
    (problem,) = problems(benchmarks__twins="mini")
    assert "holds no twins" in problem


SERVED = {
    "kind": "generative",
    "verdict": "text",
    "server": {"url": "https://example.org/v1", "model": "gpt-5"},
}


GRPO = {**load("workflow/scales/tiny.yaml")["carb"]["grpo"], "policy": "gemma", "reward_models": None}


def test_policies_are_trained_by_all_reward_models_or_by_some():
    assert problems(carb__grpo=GRPO) == []
    assert problems(carb__grpo={**GRPO, "reward_models": ["gemma_ko", "gemma-judge"]}) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"bases": ["gema", "gemma"]},
            "bases: `gema` is unknown; workflow/catalog/models.yaml has gemma, smollm; did",
        ),
        (
            {"target_languages": ["es", "qq"]},
            "target_languages: `qq` is unknown; resources/languages.yaml has de, en, es, ko",
        ),
        ({"source_language": "qq"}, "source_language: `qq` is unknown; resources/languages.yaml has"),
        (
            {"pool__datasets": ["mini-pool", "korean"]},
            "pool.datasets: `korean` has no pairs in `en`, the source language",
        ),
        (
            {"pool__datasets": ["mini-pol"]},
            "pool.datasets: `mini-pol` is unknown; workflow/catalog/datasets.yaml has",
        ),
        (
            {"benchmarks__main": "mimi"},
            "benchmarks.main: `mimi` is unknown; workflow/catalog/benchmarks.yaml has mini,",
        ),
        (
            {"off_the_shelf": ["gema-judge"]},
            "off_the_shelf: `gema-judge` is unknown; workflow/catalog/reward_models.yaml has",
        ),
        (
            {"alignment__policy": "gema"},
            "alignment.policy: `gema` is unknown; workflow/catalog/models.yaml has",
        ),
        ({"alignment__reward_base": "smollm"}, "alignment.reward_base: `smollm` is unknown; bases has gemma"),
        (
            {"alignment__languages": ["en"]},
            "alignment.languages: `en` is unknown; target_languages has es, ko",
        ),
        (
            {"alignment__instructions": "mini"},
            "alignment.instructions: `mini` is unknown; workflow/catalog/datasets.yaml has",
        ),
        (
            {"alignment__prompt_data": "mini"},
            "alignment.prompt_data: `mini` is unknown; workflow/catalog/datasets.yaml has",
        ),
        (
            {"alignment__reference": "gema"},
            "alignment.reference: `gema` is unknown; workflow/catalog/reward_models.yaml has",
        ),
        (
            {"alignment__reference": "gemma-rm"},
            "alignment.reference: `gemma-rm` is no model that writes; name one of kind",
        ),
        (
            {"alignment__instructions": "bare"},
            "alignment.reference: `bare` brings no reference answers; name who writes them",
        ),
        ({"figure2_models": ["gema"]}, "figure2_models: `gema` is unknown; workflow/catalog/models.yaml has"),
        (
            {"alignment__judge": "gema"},
            "alignment.judge: `gema` is unknown; workflow/catalog/reward_models.yaml has",
        ),
        (
            {"alignment__judge": "gemma-rm"},
            "alignment.judge: `gemma-rm` is no judge; name one of kind generative in workflow",
        ),
        (
            {"devices__launch": "no.yaml"},
            "devices.launch: there is no file `no.yaml`; paths start at the project's folder",
        ),
        (
            {"devices__serve": {**SERVE, "command": ["vllm", "{port}"]}},
            "devices.serve.command: has no {model}, from which the server learns",
        ),
        (
            {"devices__serve": {**SERVE, "command": ["vllm", "{model}"]}},
            "devices.serve.command: has no {port}, from which the server learns",
        ),
        ({"gate__base": "smollm"}, "gate.base: `smollm` is unknown; bases has gemma"),
        (
            {"translation__engine": "gettex"},
            "translation.engine: `gettex` is unknown; translation.engines has gettext, lm; did",
        ),
        (
            {"translation__engine": {"es": "gettext", "ko": "gettex"}},
            "translation.engine.ko: `gettex` is unknown; translation.engines",
        ),
        (
            {"translation__engine": {"es": "gettext"}},
            "translation.engine: has no engine for `ko`, one of target_languages; add it",
        ),
        (
            {"translation__engine": {"default": "gettext", "de": "lm"}},
            "translation.engine.de: `de` is not one of target_languages; name one of them, or `default`",
        ),
        (
            {"target_languages": ["es", "de"], "alignment__languages": ["es"]},
            "target_languages: `de` has no texts: no catalog",
        ),
        (
            {"language_folders": {"de": "nowhere"}},
            (
                "language_folders.de: there is no folder `nowhere`; paths start at the project's folder, and"
                " `polyreward language"
            ),
        ),
        (
            {"translation__quality_engines": ["nllb"]},
            "translation.quality_engines: `nllb` is unknown; translation.engines has",
        ),
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
        (
            {"translation__engines__lm__model": "gpt"},
            "translation.engines.lm.model: `gpt` is unknown; workflow/catalog/m",
        ),
        (
            {"own_benchmarks": {"b": {"path": "no.jsonl", "language": "es"}}},
            "own_benchmarks.b.path: there is no file `no.jso",
        ),
        (
            {"own_benchmarks": {"b": {"path": __file__, "language": "es", "layout": "hh-rhlf"}}},
            "own_benchmarks.b.layout: `hh-rhlf` is unknown; the list of layouts has",
        ),
        (
            {"own_benchmarks": {"b": {"path": __file__, "language": "xx"}}},
            "own_benchmarks.b.language: `xx` is no language",
        ),
        (
            {"own_benchmarks": {"mini": {"path": __file__, "language": "es"}}},
            "own_benchmarks.mini: workflow/catalog/bench",
        ),
        (
            {"reward_models": {"r": {"kind": "classifier", "path": "nowhere"}}},
            "reward_models.r.path: `nowhere` is no model",
        ),
        (
            {"reward_models": {"r": {"kind": "implicit", "model": "gema"}}},
            "reward_models.r.model: `gema` is unknown; work",
        ),
        (
            {"reward_models": {"r": {"kind": "implicit", "model": "gemma", "reference": {"path": "x"}}}},
            "reward_models.r.reference.path: `x` is no model folder",
        ),
        (
            {"carb__cultures": ["en", "es", "de", "xx"]},
            "carb.cultures: `xx` is unknown; resources/languages.yaml has de, en",
        ),
        (
            {"carb__embedding__model": "gema"},
            "carb.embedding.model: `gema` is unknown; workflow/catalog/models.yaml has",
        ),
        (
            {"carb__filters__nearest": 0.1, "carb__filters__farthest": 0.1},
            "carb.filters: `farthest` is not below `nearest`",
        ),
        (
            {"carb__generators": {"g": {"kind": "generative", "path": "x"}}},
            "carb.generators.g.path: `x` is no model folder",
        ),
        (
            {"carb__knockout": ["gemma-rm"]},
            "carb.knockout: `gemma-rm` is unknown; generative ones of off_the_shelf and",
        ),
        ({"carb__policies": ["gema"]}, "carb.policies: `gema` is unknown; workflow/catalog/models.yaml has"),
        (
            {"carb__example_culture": "ko"},
            "carb.example_culture: `ko` is unknown; carb.cultures has de, en, es, zh",
        ),
        ({"carb__questions": ["no.yaml"]}, "carb.questions: there is no file `no.yaml`"),
        (
            {"carb__questions": ["gone"]},
            "carb.questions: `gone` is no dataset of workflow/catalog/datasets.yaml, nor a file that",
        ),
        (
            {"carb__questions": ["mini-eval"]},
            "carb.questions: `mini-eval` holds no questions; name one of exams",
        ),
        (
            {"carb__questions": [QUESTIONS, "x/questions.jsonl"]},
            "carb.questions: `x/questions.jsonl` has the name of another set; rename the file",
        ),
        (
            {"carb__questions": ["exams"], "carb__cultures": ["en", "es", "zh", "de"]},
            "carb.questions: `exams` has questions in ko, it, none of carb.cultures; leave it out",
        ),
        (
            {"carb__grpo": {**GRPO, "policy": "gema"}},
            "carb.grpo.policy: `gema` is unknown; workflow/catalog/models.yaml has",
        ),
        (
            {"carb__grpo": {**GRPO, "reward_models": ["gemma_es", "gemma-judge", "gemma_it"]}},
            (
                "carb.grpo.reward_models: `gemma_it` is unknown; bases with their languages, off_the_shelf"
                " and reward_models has"
            ),
        ),
        (
            {"carb__grpo": {**GRPO, "generations": 3}},
            "carb.grpo.batch_size: times gradient_accumulation is 4, no multiple of generations (3)",
        ),
        ({"carb__grpo": {**GRPO, "iterations": 2}}, "carb.grpo.save_every: is no multiple of iterations"),
        (
            {"own_benchmarks": {"carb": {"path": __file__, "language": "es"}}},
            "own_benchmarks.carb: there is a benchmark of",
        ),
        (
            {"reward_models": {"r-knockout": {"kind": "generative", "model": "gemma"}}},
            "reward_models.r-knockout: a judge in a knock-out is named so",
        ),
        ({"passages": "mini-eva"}, "passages: `mini-eva` is unknown; workflow/catalog/datasets.yaml has"),
        (
            {"think_as_locals__base": "gema"},
            "think_as_locals.base: `gema` is unknown; workflow/catalog/models.yaml has",
        ),
        ({"think_as_locals__datasets": ["nope"]}, "think_as_locals.datasets: `nope` is unknown"),
        ({"think_as_locals__easy__dataset": "nope"}, "think_as_locals.easy.dataset: `nope` is unknown"),
        (
            {"think_as_locals__evaluation__cultures": ["ko"]},
            "think_as_locals.evaluation.cultures: `ko` is unknown; carb.cultures has",
        ),
        (
            {"think_as_locals__criteria_language": "it"},
            "think_as_locals.criteria_language: `it` is unknown; resources/languages.yaml has",
        ),
        ({"think_as_locals__criteria": "no.yaml"}, "think_as_locals.criteria: there is no file `no.yaml`"),
        (
            {"think_as_locals__runs__warmup": WEIGHTS},
            "think_as_locals.runs.warmup: a judge of another kind is named so",
        ),
        (
            {"think_as_locals__runs__full-2": WEIGHTS},
            "think_as_locals.runs.full-2: a judge of another kind is named so",
        ),
        ({"think_as_locals__runs": {"no-corr": WEIGHTS}}, "think_as_locals.runs: has no `full`"),
        (
            {"think_as_locals__others": ["gemma-judg"]},
            (
                "think_as_locals.others: `gemma-judg` is unknown; workflow/catalog/reward_models.yaml, with"
                " reward_models, has gemma"
            ),
        ),
        (
            {"think_as_locals__others": ["gemma-rm"]},
            "think_as_locals.others: `gemma-rm` is of kind classifier; only judges",
        ),
        (
            {
                "think_as_locals__others": ["full"],
                "reward_models": {"full": {"kind": "generative", "model": "gemma"}},
            },
            "think_as_locals.others: a judge of ours is named `full`, too",
        ),
        (
            {"think_as_locals__beside": {"gemma": "results/other"}},
            "think_as_locals.beside.gemma: is this scale's own base",
        ),
        (
            {"think_as_locals__beside": {"7b": "results/"}},
            "think_as_locals.beside.7b: `results/` is this scale's own `results`",
        ),
        (
            {"think_as_locals__grpo__generations": 32},
            "think_as_locals.grpo.batch_size: times gradient_accumulation is 32, no multiple of twice",
        ),
        (
            {"think_as_locals__grpo__save_every": 3, "think_as_locals__grpo__iterations": 2},
            "think_as_locals.grpo.save_every: is no multiple of iterations",
        ),
        (
            {"reward_models": {"mine": {"kind": "generative", "think_as_locals": "ful"}}},
            (
                "reward_models.mine.think_as_locals: `ful` is unknown; think_as_locals.runs has full,"
                " no-appr, no-corr, no-cri"
            ),
        ),
        (
            {"carb__training_share": 0},
            "carb.training_share: is 0, so that `think_as_locals` has no topic left to train on",
        ),
        (
            {"reward_models": {"gemma-judge": {"kind": "generative", "model": "gemma"}}},
            "reward_models.gemma-judge: off_the_shelf",
        ),
        ({"judge_questions": {"mine": "no.yaml"}}, "judge_questions.mine: no.yaml: no such file"),
        (
            {
                "reward_models": {
                    "r": {"kind": "generative", "model": "gemma", "verdict": "text", "question": "rewardbnch"}
                }
            },
            "reward_models.r: `rewardbnch` is unknown; workflow/catalog/judge_questions.yaml has",
        ),
        (
            {"reward_models": {"r": {"kind": "generative", "model": "gemma", "question": "rewardbench"}}},
            (
                "reward_models.r: `r` goes by labels, and a reply to its question `rewardbench` is more than"
                " a label; set verdict: t"
            ),
        ),
        (
            {
                "reward_models": {
                    "r": {
                        "kind": "generative",
                        "model": "gemma",
                        "question": "alpacaeval",
                        "verdict": "criteria",
                    }
                }
            },
            (
                "reward_models.r: `r` has a `question`, which has no place for criteria; set verdict: text or"
                " labels"
            ),
        ),
        (
            {"pinned_judges": True, "reward_models": {"r": SERVED}},
            (
                "reward_models.r: `r` asks a server for `gpt-5`, a name that moves; give its `model` the date"
                " of a snapshot"
            ),
        ),
        (
            {"off_the_shelf_rows__table2": ["gema"]},
            "off_the_shelf_rows.table2: `gema` is unknown; off_the_shelf has",
        ),
        ({"carb__topics": None}, "carb: has neither `topics` nor `reference_files`; name one"),
        ({"target_languages": ["es", "en"]}, "target_languages: `en` is the source language; leave it out"),
        (
            {"reward_model__lora": None},
            "reward_model.cache_frozen_layers: without lora no layer is frozen; set it to fa",
        ),
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


def test_the_question_of_a_judge_beside_ours_is_checked():
    entries = {"rm-r1": {"kind": "generative", "hub": "a/b", "question": "rewardbench"}}
    known = dataclasses.replace(KNOWN, reward_models={**KNOWN.reward_models, **entries})
    (found,) = problems(known, think_as_locals__others=["rm-r1", "gemma-judge"])
    assert found.startswith(
        "think_as_locals.others: `rm-r1` goes by labels, and a reply to its question `rewardbench` is more"
    )
    entries["rm-r1"]["verdict"] = "text"
    assert problems(known, think_as_locals__others=["rm-r1", "gemma-judge"]) == []


def test_every_problem_is_listed():
    assert len(problems(bases=["x", "y", "gemma"], source_language="qq", gate__base="z")) == 4


def test_full_fine_tuning_without_the_cache_is_allowed():
    assert problems(reward_model__cache_frozen_layers=False, reward_model__lora=None) == []


def test_every_setting_that_holds_a_name_is_one():
    for setting in NAMES:
        attrgetter(setting)(settings_with({}))


def test_every_scale_is_a_configuration():
    names = ("models", "reward_models", "datasets", "benchmarks")
    questions = load("workflow/catalog/judge_questions.yaml")
    known = Known(
        *(load(f"workflow/catalog/{name}.yaml") for name in names),
        load("resources/languages.yaml"),
        questions,
    )
    check_catalogs(known)
    for scale in sorted((ROOT / "workflow/scales").glob("*.yaml")):
        config = copy.deepcopy(load("config.yaml"))
        if scale.stem.startswith("paper_"):
            update_config(config, load("workflow/scales/paper.yaml"))
        update_config(config, load(scale))
        languages = with_folders(known.languages, config.get("language_folders"), ROOT)
        known = dataclasses.replace(known, languages=languages)
        assert [
            str(one) for one in settings_problems(config, known) if "there is no file" not in str(one)
        ] == []


def test_a_benchmark_of_an_unknown_dataset_is_named():
    known = Known(
        {}, {}, {"mini-eval": {}}, {"mini": {"dataset": "mini-evl"}, "good": {"dataset": "mini-eval"}}, {}
    )
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


def test_with_no_base_nothing_is_asked_of_one():
    assert problems(bases=[]) == []


def test_a_benchmark_of_ones_own_may_be_in_any_language_of_cldr(tmp_path):
    (tmp_path / "b.jsonl").touch()
    assert problems(own_benchmarks={"b": {"path": str(tmp_path / "b.jsonl"), "language": "pt"}}) == []
