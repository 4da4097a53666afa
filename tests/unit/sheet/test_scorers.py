"""What a scale makes: models, scorers and files of a small made-up one, with answers by hand."""

import dataclasses

import pytest
from settings_data import LM, changed, settings_with
from settings_data import SERVE as LIMITS
from support import ROOT

from polyreward.config.inputs import claims_of, notebook_settings, transfer_notebook
from polyreward.config.scale import Scale
from polyreward.config.translation import Engine, engine_of, quality_rows

CONFIG = {
    "results": "out", "seed": 7, "target_languages": ["es", "ko"], "bases": ["a", "b"], "precision": "float32",
    "benchmarks": {"main": "bench", "twins": "pairs"}, "reward_model_seeds": [1, 2],
    "own_benchmarks": {
        "mine": {"path": "m.jsonl", "language": "de"},
        "yours": {"path": "y.jsonl", "language": "ko"},
    },
    "reward_models": {"my-rm": {"kind": "classifier", "path": "rm"}}, "off_the_shelf": ["judge"],
    "gate": {"base": "a", "seeds": 3}, "scoring": {"max_length": 64}, "intervals": {"samples": 100},
    "reward_model": {"lora": {"rank": 1, "alpha": 1, "top_layers": 2}},
    "devices": {"serve": {"command": ["x"], **LIMITS}},
    "translation": {
        "engine": "by-hand",
        "engines": {
            "by-hand": {"kind": "gettext", "catalogs": "po"},
            "llm": {**LM, "model": {"es": "m-es", "ko": "m-ko"}},
        },
    },
    "carb": {"cultures": ["ar", "ko"]},
}  # fmt: skip
KNOWN = Known(
    models={
        "a": {"pretraining": "english", "source": {"kind": "pypi"}},
        "b": {"pretraining": "multilingual", "source": {"kind": "random"}},
        "m-ko": {"source": {"kind": "hub"}},
    },
    reward_models={
        "judge": {"kind": "generative", "model": "b"},
        "unused": {"kind": "classifier", "hub": "x/y"},
    },
    datasets={},
    benchmarks={
        "bench": {"sections": {"Chat": ["easy", "hard"], "Safety": ["refuse"]}, "weights": {"easy": 1}}
    },
    languages={"en": {"script": "Latn"}, "es": {"script": "Latn"}, "ko": {"script": "Kore"}},
)


def scale_with(**changes):
    return Scale(settings_with(changed(CONFIG, **changes)), KNOWN)


@pytest.fixture
def scale():
    return scale_with()


def test_a_reward_model_is_trained_for_each_base_language_and_seed(scale):
    assert scale.trained_models() == ["a_en", "a_es", "a_ko", "b_en", "b_es", "b_ko"]
    seeds = [f"{name}{seed}" for name in scale.trained_models() for seed in ("", "_seed2")]
    assert scale.trained_models([1, 2]) == seeds
    assert scale.gate_models == ["a_en", "a_en_seed2", "a_en_seed3"]
    assert scale.main_reward_models() == ["my-rm", "judge", *seeds]
    assert scale.main_reward_models(trained_first=True) == [*seeds, "my-rm", "judge"]


def test_a_judge_is_trained_on_the_kinds_of_the_main_benchmark_and_on_unseen_ones():
    scale = read_models([], ROOT)
    main, unseen = (scale.kinds(getattr(scale.settings.benchmarks, use)) for use in ("main", "unseen_kinds"))
    kinds = scale.judge_kinds
    assert kinds["chat"] == [*main["chat"], *unseen["chat"]]
    assert kinds["comply"] == [*main["comply"], *unseen["safety"]]  # a subset of safety with a mix of its own


def test_twins_see_fewer_reward_models_and_catalogued_ones_the_main_benchmark_only(scale):
    assert scale.reward_models("bench", "ko") == ["my-rm", "judge", *scale.trained_models()]
    assert scale.reward_models("pairs", "ko") == ["my-rm", "a_en", "a_ko", "b_en", "b_ko"]
    assert scale.reward_models("pairs", "en") == ["my-rm", "a_en", "b_en"]


def test_tables_have_what_was_not_trained_here_and_the_off_the_shelf_rows_that_are_named(scale):
    baselines = {"loglik-a": "baseline", "loglik-b": "baseline"}
    expected = {"judge": "generative", "my-rm": "classifier", **baselines}
    assert list(scale.table2_scorers.items()) == list(expected.items())
    assert scale.ready_made_pretraining == {"judge": "multilingual", "my-rm": "unknown"}
    shelf = ["judge", "unused"]
    assert list(scale_with(off_the_shelf=shelf).table2_scorers) == [*shelf, "my-rm", *baselines]
    rows = {"table2": ["unused"], "language_tables": []}
    some = scale_with(off_the_shelf=shelf, off_the_shelf_rows=rows)
    assert list(some.table2_scorers) == ["unused", "my-rm", *baselines]
    assert list(some.ready_made_pretraining) == ["unused", "my-rm"]
    assert some.language_table_rows()[:2] == ["my-rm", "a_en"]
    assert {"judge", "unused"} <= set(some.main_reward_models())  # all are scored, for CARB


def test_only_published_reward_models_may_be_missing_and_only_by_the_setting():
    scale = scale_with(missing="row", think_as_locals={"others": ["unused", "my-rm"]})
    assert list(scale.published) == ["judge", "unused"]
    assert [name for name in ("judge", "unused", "my-rm", "a_en") if scale.may_be_missing(name)] == [
        "judge", "unused",
    ]  # fmt: skip
    assert not scale_with(missing="stop").may_be_missing("judge")


def test_baselines_are_of_the_text_and_of_each_base(scale):
    text = ["length", "tfidf-answer", "tfidf-prompt-answer"]
    assert scale.baselines == [*text, "probe-a", "loglik-a", "pmi-a", "probe-b", "loglik-b", "pmi-b"]
    assert scale.scorers("pairs", "en")[-10:] == ["b_en", *scale.baselines]
    # Those of the text score a user's benchmark in a language of the pool only
    assert scale.own_benchmark_scorers("mine") == ["my-rm", *scale.trained_models()]
    assert scale.own_benchmark_scorers("yours")[-3:] == text


def test_languages_are_grouped_by_script_and_no_group_is_empty(scale):
    assert scale.by_script(["es", "ko"]) == [["ko"], ["es"]]
    assert scale.by_script(["es"]) == [["es"]]
    assert scale.language_facts("script", ["ko"]) == {"ko": "Kore"}


def test_a_training_gets_its_section_and_what_all_models_share(scale):
    section = scale.settings.alignment.dpo
    assert scale.policy_training(section) == {"settings": section, "precision": "float32", "liger": False}
    with_liger = scale_with(devices__liger=True)
    assert with_liger.policy_training(section)["liger"] is True
    assert "liger" not in with_liger.training(section)  # a reward model has no vocabulary head to fuse


@pytest.mark.parametrize(
    ("change", "layers"),
    [({}, 2), ({"reward_model__lora": None}, 0), ({"reward_model__cache_frozen_layers": False}, 0)],
)
def test_layers_are_frozen_below_adapters_alone(change, layers):
    assert scale_with(**change).top_layers == layers


def test_small_settings(scale, tmp_path):
    assert scale.confidence == "95%"
    assert scale.interval == {"samples": 100, "confidence": 0.95, "seed": 7}
    assert scale.scoring == {**scale.scoring, "dtype": "float32", "max_length": 64, "attention": "sdpa"}
    assert scale.figure2_models == ["a", "b"]
    assert scale_with(figure2_models=["c"]).figure2_models == ["c"]
    assert scale.job_seed("x", "y") != scale.job_seed("x", "z")
    assert scale.categories("bench") == {"easy": "Chat", "hard": "Chat", "refuse": "Safety"}
    assert scale.benchmark_facts("bench")["name"] == "bench"
    (tmp_path / "launch.yaml").write_text("num_processes: 4\n", encoding="utf-8")
    assert scale.launch is None
    assert scale_with(devices__launch=str(tmp_path / "launch.yaml")).launch == {"num_processes": 4}


def test_a_catalog_translates_from_its_file_and_a_model_from_its_folder(scale):
    by_hand, llm = engine_of(scale, "ko"), Engine(scale, "llm", "ko")
    assert (by_hand.file, llm.file) == ("po/ko.po", "out/work/1_sources/models/m-ko")
    assert (by_hand.models, llm.models) == ([], ["m-ko"])
    assert by_hand.arguments == {"engine": by_hand.settings, "part": False}
    served = {"precision": "float32", "serve": scale.settings.devices.serve}
    assert llm.arguments == {"engine": llm.settings, **served}
    english, released = Engine(scale, "llm", "en"), Engine(scale, "llm", "ko", released=True)
    for unused in (engine_of(scale, "en"), english, released):
        assert unused.file == unused.models == []


def test_each_language_may_have_an_engine_and_a_folder_of_its_own():
    engine, folders = {"default": "by-hand", "ko": "llm"}, {"es": "folders/es"}
    scale = scale_with(translation__engine=engine, language_folders=folders)
    assert [engine_of(scale, language).name for language in ("es", "ko")] == ["by-hand", "llm"]
    assert engine_of(scale, "es").file == "folders/es/catalog.po"


def test_engines_are_compared_on_dev_rows_or_passages(scale):
    assert quality_rows(scale) == "out/work/2_prepared/dev.jsonl"
    passages = scale_with(translation__quality_data="passages")
    assert quality_rows(passages) == "out/work/3_translated/passages/en.jsonl"


def test_the_notebook_reads_both_reward_models_of_each_row_of_table_1_and_knows_what_it_may(scale):
    read = transfer_notebook(scale)
    scores = [path for path in read if path.endswith(".parquet")]
    assert len(scores) == 2 * 2 * 2 * 2  # bases, target languages, trainings, seeds
    assert "out/work/5_scores/bench/a_ko_seed2/ko.parquet" in scores
    assert "out/table1.csv" in read
    assert list(notebook_settings(scale.settings, "carb")) == ["results", "seed", "intervals", "carb"]
    assert claims_of({"x": {"paper": "carb"}, "y": {"paper": "transfer"}}, "carb") == {"x": {"paper": "carb"}}


def with_released(languages, pool=("hub",)):
    known = dataclasses.replace(KNOWN, datasets={
        "hub": {"holds": "pairs", "id": "o/p", "languages": {one: {"config": one} for one in languages}},
        "plain": {"holds": "pairs", "id": "o/q"},
        "passages": {"holds": "passages", "languages": {"en": {}, "es": {}}},
    }, benchmarks={"bench": {"dataset": "hub"}, "pairs": {"dataset": "plain"}})  # fmt: skip
    scale = scale_with(pool={"datasets": list(pool)}, alignment={"prompt_data": None})
    return dataclasses.replace(scale, known=known)


def test_of_pairs_in_many_languages_the_scale_s_are_read_the_source_first():
    scale = with_released(["zh", "es", "en"])
    assert list(scale.dataset("hub")["languages"]) == ["en", "es"]
    assert "languages" not in scale.dataset("plain")
    assert scale.dataset("passages") == scale.known.datasets["passages"]


@pytest.mark.parametrize(("rowset", "language", "pool", "released"), [
    ("bench", "es", ["hub"], True),
    ("bench", "ko", ["hub"], False),  # the dataset has none
    ("pairs", "es", ["hub"], False),
    ("train", "es", ["hub"], True),
    ("dev", "es", ["hub", "plain"], False),  # some rows need the engine
    ("prompts", "es", ["hub"], True),  # of the pool
])  # fmt: skip
def test_rows_that_come_in_a_language_need_no_engine(rowset, language, pool, released):
    assert with_released(["en", "es"], pool).released(rowset, language) == released


CHECK = "An instrument check on bases of at most {} parameters, not a replication."


@pytest.mark.parametrize(("kind", "size", "sentence"), [
    ("random", None, "Random models: the numbers mean nothing."),
    ("hub", 0.268, CHECK.format("268 million")),
    ("hub", 1.5, CHECK.format("1.5 billion")),
    ("hub", 3.2, ""),
    ("path", None, ""),
])  # fmt: skip
def test_captions_say_how_small_the_bases_are(scale, kind, size, sentence):
    entry = {"source": {"kind": kind}} | ({"parameters_b": size} if size else {})
    known = dataclasses.replace(KNOWN, models=dict.fromkeys(("a", "b"), entry))
    assert dataclasses.replace(scale, known=known).check == sentence
