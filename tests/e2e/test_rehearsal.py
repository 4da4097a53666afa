"""A sample of the dress rehearsal: from the loopback hub to a reward model in another language, a translation
of scale paper, and the anchor."""

import json

import pandas as pd
import pytest
from dress_rehearsal import rehearse
from preloaded import OWN_PYTHON

from polyreward.ops.machine import cuda_devices


@pytest.fixture(autouse=True)
def jobs_run_in_forks(capfd):
    """A job that loads PyTorch itself takes several times as long."""
    yield
    assert OWN_PYTHON not in capfd.readouterr().err


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
    (where,) = [device for device, rules in found["computed_on"].items() if "reward_model" in rules]
    assert (where == "the CPU") == (cuda_devices() == 0)
    folder = tmp_path / "gpu"
    assert json.loads((folder / model / "config.json").read_text())["architectures"] == [
        "Qwen2ForSequenceClassification"
    ]
    rows = [
        json.loads(line)
        for line in (folder / "results/gpu/work/3_translated/train/ko.jsonl").open(encoding="utf-8")
    ]
    assert len(rows) == 12


@pytest.mark.slow
def test_a_model_of_scale_paper_translates_passages(tmp_path):
    sample = "results/paper_vllm/work/3_translated/samples/x-alma/es.jsonl"
    found = rehearse("paper", tmp_path, 2, [sample])
    assert found["returncode"] == 0, (tmp_path / "paper.log").read_text(encoding="utf-8")
    assert found["jobs"]["engine_sample"] == 1
    assert len((tmp_path / "paper" / sample).read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.slow
def test_the_anchor_scores_published_reward_models_on_both_benchmarks_and_says_what_is_off(tmp_path):
    found = rehearse("anchor", tmp_path, 2, ["results/anchor/anchor.csv"])
    assert found["returncode"] == 0, (tmp_path / "anchor.log").read_text(encoding="utf-8")
    assert found["jobs"]["single_scores"] == 8  # four reward models, in English and in Korean
    table = pd.read_csv(tmp_path / "anchor/results/anchor/anchor.csv")
    printed = table.dropna(subset="printed_pct")
    assert set(printed["language"]) == {"en"} and set(printed["benchmark"]) == {"rewardbench"}
    assert printed.groupby("reward_model").size().to_dict() == {
        "ArmoRM-Llama3-8B-v0.1": 5, "Llama-3-OffsetBias-RM-8B": 1, "Llama3.2-3B-MP-RM": 5, "Qwen2.5-3B-MP-RM": 5,
    }  # fmt: skip
    assert printed["verdict"].str.startswith("off by").sum() > 10  # random weights meet no printed number
    assert set(table[table["language"] == "ko"]["verdict"]) == {"not printed"}
