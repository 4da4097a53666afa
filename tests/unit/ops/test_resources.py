"""What jobs ask for, by the size of their models, on this machine and on a cluster."""

import math
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file
from settings_data import settings_with

from polyreward.ops.resources import CUDA_PROGRAM, PROGRAM, TABLE_MB, UNKNOWN_B, JobResources, parameters_b
from polyreward.sheet.scorers import Scorer, Sheet

MODELS = {
    "gemma": {"source": {"kind": "pypi"}, "parameters_b": 0.268},
    "smollm2": {"source": {"kind": "pypi"}, "parameters_b": 0.1345},
    "half": {"source": {"kind": "pypi"}, "parameters_b": 0.5},
    "random": {"source": {"kind": "random"}},
    "unknown": {"source": {"kind": "hub", "id": "a/b"}},
}
SITE = {"partition": "cpus", "gpu_partition": "gpus", "gpu_type": None}


def resources(launch=None, precision="float32", gpus=0, runs_here=True, site=None):
    config = {"devices": {"launch": launch}, "precision": precision}
    rows = {
        "gemma_ko": Scorer("gemma_ko", "classifier", "gemma", "ko", 1, entry={"path": "m"}),
        "judge": Scorer(
            "judge", "generative", "half", entry={"kind": "generative", "model": "half", "gpus": 4}
        ),
    }
    return JobResources(settings_with(config), MODELS, Sheet(rows, ()), gpus, lambda: runs_here, site)


def asked(kind, *models, training=None, on_gpu=True, **settings):
    return resources(**settings).for_models(kind, lambda wildcards: models, training, on_gpu, minutes=30)


def test_a_rule_names_a_model_or_a_scorer_by_its_wildcards():
    found = resources()
    assert found.model("half") == MODELS["half"]
    assert found.model("gemma_ko") == MODELS["gemma"]  # trained here: as large as its base
    assert found.model("judge")["gpus"] == 4
    asked = found.for_models("score", "{scorer}", minutes=30)["mem_mb"]
    assert asked({"scorer": "gemma_ko"}) == mem_mb("score", "gemma")
    assert asked({"scorer": "judge"}) == mem_mb("score", "half")


def mem_mb(kind, *models, attempt=1, **settings):
    return asked(kind, *models, **settings)["mem_mb"](SimpleNamespace(), attempt)


@pytest.fixture
def launch(tmp_path):
    """Return a function that writes a configuration of accelerate and returns its path."""

    def write(text):
        (tmp_path / "launch.yaml").write_text(text, encoding="utf-8")
        return str(tmp_path / "launch.yaml")

    return write


# What jobs of scale mini took, in MiB by Snakemake's benchmark files
@pytest.mark.parametrize(("kind", "model", "peak_mib"), [
    ("train", "gemma", 2942), ("score", "gemma", 2859), ("generate", "gemma", 2340), ("train", "smollm2", 2622),
])  # fmt: skip
def test_a_job_asks_for_what_it_was_seen_to_take_and_not_for_far_more(kind, model, peak_mib):
    assert peak_mib * 1.048576 < mem_mb(kind, model) <= 4000


def test_memory_grows_with_what_is_held_at_once():
    one = mem_mb("score", "half")
    assert mem_mb("score", "random") == PROGRAM
    assert mem_mb("score", "random", "half", "random") == one
    assert mem_mb("score", {"model": "half", "reference": {"model": "half"}}) > one + 2000
    assert mem_mb("score", {"model": "half", "dtype": "bfloat16"}) < one - 1000
    assert mem_mb("score", "half", precision="bfloat16") < one - 1000
    lora = mem_mb("train", "half", training=SimpleNamespace(lora=8), precision="bfloat16")
    assert lora == mem_mb("train", "half")  # trained weights are float32
    for more, mb in (({}, 6_000), ({"optimizer": "adamw_8bit"}, 3_000)):
        assert mem_mb("train", "half", training=SimpleNamespace(lora=None, **more)) - lora == mb
    assert mem_mb("score", "half", attempt=3) == 2 * one
    assert mem_mb("score", {"kind": "generative", "server": {}}) == mem_mb("generate") == TABLE_MB


def test_where_a_model_computes_on_a_gpu_the_machine_s_memory_holds_its_weights_while_it_loads():
    expected = math.ceil((CUDA_PROGRAM + 1.1 * 2000) / 100) * 100
    assert mem_mb("score", "half", gpus=1) == expected
    assert mem_mb("train", "half", training=SimpleNamespace(lora=None), gpus=1) == expected


def test_sizes_are_the_catalog_s_or_those_of_a_folder_s_files(tmp_path):
    assert parameters_b({"model": "half", "parameters_b": 7.5}, MODELS) == 7.5
    assert parameters_b({"model": "half"}, MODELS) == 0.5
    assert parameters_b(MODELS["unknown"], MODELS) == UNKNOWN_B
    assert parameters_b(MODELS["unknown"], MODELS, unknown=None) is None
    tensors = {"a": torch.zeros(1000, 2000, dtype=torch.bfloat16), "b": torch.zeros(500)}
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    for entry in ({"path": str(tmp_path)}, {"source": {"kind": "path", "path": str(tmp_path)}}):
        assert parameters_b(entry, MODELS) == pytest.approx(2_000_500 / 1e9)
    for content in (b"", b"no safetensors at all", (8).to_bytes(8, "little") + b"[1,2,3]"):  # left to its job
        (tmp_path / "model.safetensors").write_bytes(content)
        assert parameters_b({"path": str(tmp_path)}, MODELS) == UNKNOWN_B


def test_a_gpu_is_asked_for_where_there_is_one_and_jobs_run_here():
    def gpus(*models, **settings):
        found = asked("score", *models, **settings)
        return found["gpu"](None) if "gpu" in found else None

    assert gpus("half", gpus=2) == 1
    assert gpus({"model": "half", "gpus": 4}, gpus=8) == 4
    assert gpus({"server": {}}, gpus=1) == gpus("half", gpus=1, runs_here=False) == 0
    assert gpus("half") is gpus("half", gpus=1, on_gpu=False) is None


@pytest.mark.parametrize(("use_cpu", "gpu"), [("", 2), (", use_cpu: true", None)])
def test_a_training_of_several_processes_asks_for_as_much_in_each(launch, use_cpu, gpu):
    two = {"launch": launch(f"{{num_processes: 2{use_cpu}}}"), "gpus": 2}
    found = asked("train", "half", training=SimpleNamespace(lora=8), **two)
    assert ("gpu" in found) == bool(gpu)
    each = mem_mb("train", "half", gpus=1 if gpu else 0)
    assert abs(found["mem_mb"](None) - 2 * each) <= 100
    assert asked("score", "half", **two)["gpu"](None) == 1


def test_on_a_cluster_a_job_asks_for_its_partition_minutes_and_memory(launch):
    path = launch("num_processes: 4")

    def wanted(*models, site=SITE, **arguments):
        found = asked("train", *models, launch=path, runs_here=False, site=site, **arguments)
        return [found["runtime"](None, 2), *(
            found[name](None) if name in found else None for name in ("slurm_partition", "gpu", "gpu_model")
        )]  # fmt: skip

    assert wanted("half") == [45, "gpus", 1, None]
    assert wanted("half", site={**SITE, "gpu_type": "a100"}) == [45, "gpus", 1, "a100"]
    assert wanted("half", site={**SITE, "gpu_partition": None}) == [45, None, None, None]
    assert wanted("half", training=SimpleNamespace(lora=None)) == [45, "gpus", 4, None]
    assert wanted({"model": "half", "gpus": 2}) == [45, "gpus", 2, None]
    assert wanted({"server": {}}) == [45, "cpus", None, None]
    assert wanted("half", on_gpu=False) == [45, None, None, None]


def test_jobs_without_a_model_ask_a_cluster_for_more_each_time_and_tfidf_here_too():
    tables = resources(site=SITE).for_tables(mb=1000, minutes=1440)
    assert [tables["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [1000, 1500, 2000]
    assert [tables["runtime"](None, attempt) for attempt in (1, 2, 3)] == [1440, 2160, 2880]
    assert resources().for_tables(mb=1000, minutes=30) == {}
    assert resources().for_tfidf(None, minutes=1) == {"mem_mb": TABLE_MB}
    assert resources().for_tfidf(10_000, minutes=1) == {"mem_mb": TABLE_MB + 6500}
    assert resources(site=SITE).for_tfidf(10_000, minutes=1)["mem_mb"](None, 1) == TABLE_MB + 6500
