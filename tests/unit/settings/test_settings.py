"""What follows from the settings alone: languages, and what trainings, scorings and intervals are given."""

import pytest
from small_scale import small_settings
from support import ROOT

from polyreward.core.yaml_files import read_yaml
from polyreward.plan import SHOWN_IN_ORDER, in_one_order
from polyreward.settings.messages import Places, parsed_settings


def backwards(value, key=()):
    """Return settings whose mappings have the opposite order, but those whose order a table shows."""
    if not isinstance(value, dict):
        return value
    names = value if key in SHOWN_IN_ORDER else reversed(value)
    return {name: backwards(value[name], (*key, name)) for name in names}


def test_the_order_of_keys_changes_no_param():
    """Snakemake compares params as texts, and trains again where one differs."""
    config = read_yaml(ROOT / "config.yaml")
    config["reward_model"]["depth"] = {"b": 8, "a": 7, "c": 9}
    config["think_as_locals"]["runs"] |= {"no-corr": {"correctness": 0}, "no-appr": {"appropriateness": 0}}
    config["think_as_locals"]["data_shares"] = {"own": 0.5, "care": 0.5}
    there, back = (
        in_one_order(parsed_settings(one, Places([])), Places([])) for one in (config, backwards(config))
    )
    assert list(backwards(config)["reward_model"]["depth"]) == ["c", "a", "b"]
    assert repr(there) == repr(back)
    assert repr(there.training_arguments(there.reward_model)) == repr(
        back.training_arguments(back.reward_model)
    )
    assert list(there.reward_model.depth) == ["a", "b", "c"]
    assert there.carb.model_fields_set == parsed_settings(config, Places([])).carb.model_fields_set
    assert list(there.think_as_locals.runs) == ["full", "no-corr", "no-appr", "no-criteria"]  # as shown


def test_a_training_gets_its_section_and_what_all_models_share():
    settings = small_settings()
    section = settings.alignment.dpo
    arguments = {"settings": section, "precision": "float32"}
    assert settings.policy_arguments(section) == {**arguments, "liger": False}
    with_liger = small_settings(devices__liger=True)
    assert with_liger.policy_arguments(section)["liger"] is True
    assert (
        with_liger.training_arguments(section) == arguments
    )  # a reward model has no vocabulary head to fuse
    assert settings.sampling_arguments(section) == {**arguments, "serve": settings.devices.serve}


@pytest.mark.parametrize(
    ("change", "layers"),
    [({}, 2), ({"reward_model__lora": None}, 0), ({"reward_model__cache_frozen_layers": False}, 0)],
)
def test_layers_are_frozen_only_below_adapters(change, layers):
    assert small_settings(**change).top_layers == layers


def test_what_is_left_out_is_all_of_the_scale():
    settings = small_settings()
    assert settings.languages == ["en", "es", "ko"]
    assert settings.shown_bases == settings.embedding_models == ["a", "b"]
    assert small_settings(figure2_models=["c"]).embedding_models == ["c"]
    assert small_settings(table1_bases=["b"]).shown_bases == ["b"]


def test_judges_see_the_benchmark_in_their_cultures_languages_where_the_scale_has_them():
    evaluation = "think_as_locals__evaluation"
    assert small_settings(**{f"{evaluation}__cultures": ["ar", "ko"]}).judged_languages == ["ko"]
    assert small_settings(**{f"{evaluation}__cultures": ["ar"]}).judged_languages == ["en", "es", "ko"]
    own = {f"{evaluation}__cultures": ["ar", "ko"], f"{evaluation}__benchmark": "b"}
    assert small_settings(**own).judged_languages == ["ar", "ko"]


def test_scorings_and_intervals_are_given_the_scale_s_precision_and_seed():
    settings = small_settings()
    assert settings.confidence == "95%"
    assert settings.interval == {"samples": 100, "confidence": 0.95, "seed": 7}
    options = {"dtype": "float32", "max_length": 64, "attention": "sdpa"}
    assert settings.score_options == {"token_budget": settings.scoring.token_budget, **options}


def test_a_launch_file_says_how_processes_start(tmp_path):
    (tmp_path / "launch.yaml").write_text("num_processes: 4\n", encoding="utf-8")
    assert small_settings().launch is None
    assert small_settings(devices__launch=str(tmp_path / "launch.yaml")).launch == {"num_processes": 4}
