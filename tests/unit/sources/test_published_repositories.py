"""Every repository that the catalogs name has a miniature, and the pipeline reads of each what the catalog
says it holds."""

import pytest
from hub_layout import cache, write_files  # noqa: F401 - cache is a fixture
from published_repositories import BENCHMARKS, DATASETS, MODELS, dataset_files, load, model_files
from support import script

from polyreward.prepare.pool import Share, row_problems
from polyreward.sources import hub
from polyreward.sources.base_models import fetch_base_model
from polyreward.sources.hub_data import hub_rows

prepared_benchmark = script("prepare/evaluation_set").prepared_benchmark

LANGUAGES = {"en", "es", "it", "ko", "zh"}


def test_every_model_of_the_hub_has_a_miniature():
    models, judges = load("workflow/catalog/models.yaml"), load("workflow/catalog/reward_models.yaml")
    named = {entry["source"]["id"] for entry in models.values() if entry["source"]["kind"] == "hub"}
    named |= {entry["hub"] for entry in judges.values() if "hub" in entry}
    assert named <= MODELS.keys()


@pytest.mark.parametrize("name", DATASETS)
def test_a_dataset_s_miniature_is_read_by_its_entry(name, tmp_path):
    entry = DATASETS[name]
    rows = hub_rows({**entry, "id": str(write_files(tmp_path / "data", dataset_files(name, entry)))}, name)
    assert len(rows) > 10
    if entry["holds"] == "pairs":
        assert [problem for row in rows for problem in row_problems(row)] == []
    elif entry["holds"] == "questions":
        assert {row["language"] for row in rows} == set(entry["languages"])
    else:
        found = [row if entry["holds"] == "passages" else row["prompt"] for row in rows]
        assert all(texts.keys() >= LANGUAGES for texts in found)
    for benchmark in BENCHMARKS.values():
        if benchmark["dataset"] == name:
            sections = {
                subset: section for section, subsets in benchmark["sections"].items() for subset in subsets
            }
            assert len(prepared_benchmark(rows, sections, Share(4, None), 1, name)[0]) == 16


BASES = [
    "llama-3.2-1b-instruct",
    "qwen2.5-0.5b-instruct",
    "gemma-3-1b-it",
    "olmo-1b",
    "nllb-200-distilled-600m",
]


@pytest.mark.parametrize("name", BASES)
def test_a_base_s_miniature_is_made_a_base_of(name, tmp_path, monkeypatch):
    entry = load("workflow/catalog/models.yaml")[name]
    files = write_files(tmp_path / "hub", model_files(entry["source"]["id"]))
    monkeypatch.setattr(hub, "fetched", lambda *asked: files)  # the cache, whatever of it is asked for
    fetch_base_model(entry, 1, [], tmp_path / "base")
    assert list((tmp_path / "base").glob("*.safetensors")) and not list((tmp_path / "base").glob("*.bin"))
    assert (tmp_path / "base/config.json").is_file()
