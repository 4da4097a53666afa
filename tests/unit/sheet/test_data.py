"""Which data a small made-up scale reads: shares, languages, kinds, and what its captions say of the bases."""

import dataclasses
from pathlib import Path

import pytest
from small_scale import CATALOG, small_settings
from support import ROOT

from polyreward.sheet.data import (
    carb_parts,
    dataset_entry,
    drawn_share,
    instrument_check,
    is_released,
    judge_kinds,
    paper_benchmarks,
    quartet_choices,
)
from polyreward.sheet.entries import read_models

DATASETS = {
    "plain": {"holds": "pairs", "id": "o/q"},
    "passages": {"holds": "passages", "languages": {"en": {}, "es": {}}},
    "exams": {"holds": "questions", "languages": {"it": {}, "ko": {}, "ar": {}}},
}


def with_released(languages):
    """Return the catalogs with a main benchmark, and pairs to train on, that come in these languages."""
    hub = {"holds": "pairs", "id": "o/p", "languages": {one: {"config": one} for one in languages}}
    benchmarks = {"bench": {"dataset": "hub"}, "pairs": {"dataset": "plain"}}
    return dataclasses.replace(CATALOG, datasets={"hub": hub, **DATASETS}, benchmarks=benchmarks)


def test_of_pairs_in_many_languages_the_scale_s_are_read_the_source_first():
    settings, catalog = small_settings(), with_released(["zh", "ko", "es", "en"])

    def languages(name, settings=settings):
        return list(dataset_entry(settings, catalog, name)["languages"])

    assert languages("hub") == ["en", "es", "ko"]
    assert "languages" not in dataset_entry(settings, catalog, "plain")
    assert dataset_entry(settings, catalog, "passages") == DATASETS["passages"]
    assert languages("exams") == ["ar", "ko"]  # CARB's cultures
    judged = small_settings(think_as_locals__evaluation={"cultures": ["zh"], "benchmark": "bench"})
    assert languages("hub", judged) == ["en", "es", "ko", "zh"]  # judges are evaluated on it in theirs


@pytest.mark.parametrize(("rowset", "language", "pool", "released"), [
    ("bench", "es", ["hub"], True),
    ("bench", "ko", ["hub"], False),  # the dataset has none
    ("pairs", "es", ["hub"], False),
    ("train", "es", ["hub"], True),
    ("dev", "es", ["hub", "plain"], False),  # some rows need the engine
    ("prompts", "es", ["hub"], True),  # of the pool
])  # fmt: skip
def test_rows_that_come_in_a_language_need_no_engine(rowset, language, pool, released):
    settings = small_settings(pool={"datasets": pool}, alignment={"prompt_data": None})
    assert is_released(settings, with_released(["en", "es"]), rowset, language) == released


def test_each_benchmark_has_a_share_of_its_own_and_of_twins_all_fills_are_used():
    named = {"main": "bench", "twins": "pairs", "unseen_kinds": "unseen"}
    settings = small_settings(
        benchmarks=named, templates_per_section={"main": 3, "pool": 5, "twins": 4}, fills_per_template=2
    )
    assert paper_benchmarks(settings) == ["bench", "pairs", "unseen"]
    assert paper_benchmarks(small_settings()) == ["bench", "pairs"]
    shares = {use: drawn_share(settings, use) for use in ("pool", "bench", "pairs", "unseen", "rewardbench")}
    assert shares == {
        "pool": {"templates": 5, "rows": 2},
        "bench": {"templates": 3, "rows": 2},
        "pairs": {"templates": 4, "rows": None},
        "unseen": {"templates": 12, "rows": 2},
        "rewardbench": {"templates": 3, "rows": 2},  # as the main one
    }


def test_a_judge_is_trained_on_the_kinds_of_the_main_benchmark_and_on_unseen_ones():
    models = read_models([], ROOT)
    used = models.settings.benchmarks
    main, unseen = map(models.catalog.kinds, (used.main, used.unseen_kinds))
    kinds = judge_kinds(models.settings, models.catalog)
    assert kinds["chat"] == [*main["chat"], *unseen["chat"]]
    assert kinds["comply"] == [*main["comply"], *unseen["safety"]]  # a subset of safety with a mix of its own


def test_carb_s_references_are_built_for_its_cultures_or_where_items_are_the_user_s_own_for_all():
    folder = ROOT / "resources/carb"
    files = {"culture_file": str(folder / "cultures.yaml"), "topics": str(folder / "topics")}
    carb = small_settings(carb__domains=["values"]).carb
    assert carb_parts(carb) == (["ar", "ko"], ["values"])
    own = small_settings(carb={"cultures": ["ar", "ko"], "item_files": ["mine.json"], **files}).carb
    cultures, domains = carb_parts(own)
    assert cultures == ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
    assert domains == ["commonsense", "linguistics", "safety", "values"]
    assert {path.stem.split("_")[0] for path in Path(own.topics).glob("*.yaml")} == set(domains)


@pytest.mark.parametrize(
    ("changes", "languages"),
    [
        ({"carb__cultures": ["de", "ko", "en"]}, ["en", "ko"]),
        ({"carb__cultures": ["de", "ja"]}, ["de", "ja"]),
        ({"carb__cultures": ["de", "es", "ko"], "carb__quartets": {"languages": ["it", "ko"]}}, ["ko"]),
        ({"carb__cultures": ["es", "ko"], "carb__quartets": {"languages": ["it"]}}, ["es", "ko"]),
        ({"carb__quartets": {"files": {"it": "a.jsonl", "en": "b.jsonl"}}}, ["it", "en"]),
    ],
)
def test_quartets_are_in_the_scale_s_languages_that_carb_has_or_in_those_of_the_user_s_files(
    changes, languages
):
    assert quartet_choices(small_settings(**changes))["languages"] == languages


CHECK = "An instrument check on bases of at most {} parameters, not a replication."


@pytest.mark.parametrize(("kind", "size", "sentence"), [
    ("random", None, "Random models: the numbers mean nothing."),
    ("hub", 0.268, CHECK.format("268 million")),
    ("hub", 1.5, CHECK.format("1.5 billion")),
    ("hub", 3.2, ""),
    ("path", None, ""),
])  # fmt: skip
def test_captions_say_how_small_the_bases_are(kind, size, sentence):
    entry = {"source": {"kind": kind}} | ({"parameters_b": size} if size else {})
    catalog = dataclasses.replace(CATALOG, models=dict.fromkeys(("a", "b"), entry))
    assert instrument_check(small_settings(), catalog) == sentence


def test_languages_are_grouped_by_script_and_no_group_is_empty():
    assert CATALOG.by_script(["es", "ko"]) == [["ko"], ["es"]]
    assert CATALOG.by_script(["es"]) == [["es"]]
    assert CATALOG.facts("script", ["ko"]) == {"ko": "Kore"}


def test_a_benchmark_s_facts_are_the_catalog_s():
    assert CATALOG.categories("bench") == {"easy": "Chat", "hard": "Chat", "refuse": "Safety"}
    facts = {"sections": {"Chat": ["easy", "hard"], "Safety": ["refuse"]}, "weights": {"easy": 1}}
    assert CATALOG.benchmark("bench") == {"name": "bench", **facts}
    assert (CATALOG.kinds("bench"), CATALOG.stock("bench")) == ({}, [])
