"""A sample of the dress rehearsal: from the loopback hub's repositories to one reward model in another
language."""

import json

import pytest
from dress_rehearsal import rehearse


@pytest.mark.slow
def test_one_base_is_trained_on_one_dataset_that_a_model_of_the_hub_translated(tmp_path):
    model = "results/gpu/work/4_models/qwen2.5-1.5b-instruct_ko"
    found = rehearse("gpu", tmp_path, 2, [model])
    assert found["returncode"] == 0, (tmp_path / "gpu.log").read_text(encoding="utf-8")
    assert {
        "datasets: iqwiki-kor/MP-86k",
        "models: Qwen/Qwen2.5-1.5B-Instruct",
        "models: facebook/nllb-200-distilled-600M",
    } <= set(found["fetched"])
    assert found["jobs"]["reward_model"] == 1
    folder = tmp_path / "gpu"
    assert json.loads((folder / model / "config.json").read_text())["architectures"] == [
        "Qwen2ForSequenceClassification"
    ]
    rows = [
        json.loads(line)
        for line in (folder / "results/gpu/work/3_translated/train/ko.jsonl").open(encoding="utf-8")
    ]
    assert len(rows) == 12
