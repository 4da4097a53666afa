"""A scale's own jobs, tried small: here scale tiny with short texts, on the CPU."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
from short_texts import SHORT
from support import refused
from tiny_models import ROOT
from transformers import AutoTokenizer

from polyreward import cli
from polyreward.core.conversations import conversation_ids
from polyreward.core.errors import PolyrewardError
from polyreward.gpu_check import check
from polyreward.gpu_check.bench import ATTEMPTS, TRIALS, Clock, writing_seconds
from polyreward.gpu_check.check import check_scale, start_problems
from polyreward.ops import stand_ins
from polyreward.ops.planning import plan_text, planned_jobs
from polyreward.ops.trials import FILE, trials_of
from polyreward.sheet.entries import read_models

TINY, GPU = "workflow/scales/tiny.yaml", "workflow/scales/gpu.yaml"


@pytest.fixture(scope="module")
def overlays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scale")
    (folder / "short.yaml").write_text(yaml.safe_dump({**SHORT, "results": str(folder / "short")}))
    return [TINY, str(folder / "short.yaml")]


@pytest.fixture(scope="module")
def trials(overlays):
    """Return the scale's trials; jobs themselves ask the Snakefile that was read last."""
    return trials_of(planned_jobs(["all"], overlays, ROOT), read_models(overlays, ROOT))


@pytest.fixture(scope="module")
def written(overlays):
    """Return the file of a check, in which everything passed."""
    return check_scale(overlays, ROOT, "cpu")


def test_each_kind_of_job_runs_by_the_pipeline_s_own_functions_and_is_measured(written, trials):
    found = json.loads(written.read_text())
    tried = [row for row in found["trials"] if row["kind"] != check.SMALL]
    assert {row["result"] for row in found["trials"]} == {"passed"}
    assert [(row["kind"], row["model"]) for row in tried] == [(one.kind, one.model) for one in trials]
    assert {row["kind"] for row in tried} == set(TRIALS)
    speeds = ("tokens_per_s", "request_s", "step_ms", "update_s")
    assert all(sum(row.get(name, 0) > 0 for name in speeds) == 1 for row in tried)
    assert found["card"] == "cpu" and not any("peak_gib" in row for row in tried)
    assert [row["model"] for row in found["trials"] if row["kind"] == check.SMALL] == ["gemma3_text", "llama"]


def test_a_step_of_writing_takes_no_negative_time_where_another_program_disturbs():
    timed = iter([5.0, 4.0, 1.0, 7.0])  # of one token and of four, in turns
    assert writing_seconds(lambda tokens: next(timed), 3) == (1.0, 2.0)
    said = refused(writing_seconds, lambda tokens: 1 / tokens, 3)
    assert f"4 tokens were written faster than one, {ATTEMPTS} times; end other programs" in said


def test_the_plan_takes_its_hours_from_there(written, overlays):
    assert written.name == FILE
    text = plan_text(["all"], overlays, ROOT)
    assert "Jobs that gpu-check tried: " in text and f"{written}, measured on cpu" in text
    row = next(line for line in text.splitlines() if line.startswith("| reward_model "))
    assert "| gpu-check |" in row
    other = plan_text(["all"], [TINY], ROOT, written)  # another scale
    assert "| gpu-check |" not in other and "was measured with other settings" in other


def test_a_line_is_printed_at_once_and_a_failing_one_says_what_to_set_and_ends_nothing(
    overlays, trials, monkeypatch, capsys
):
    (first, second), printed = trials[:2], []

    def out_of_memory(bench):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore of it")

    def broken(bench):
        printed.append(capsys.readouterr().out)
        print("a step")
        raise RuntimeError("CUDA error: an illegal memory access\nmore of it")

    monkeypatch.setattr(check, "planned_jobs", lambda *given: [])
    monkeypatch.setattr(check, "trials_of", lambda *given: [first, second, second])
    monkeypatch.setattr(check, "as_on_the_cpu", lambda *given: {"difference": 0.0})
    calls = {first.kind: out_of_memory, second.kind: broken}
    monkeypatch.setattr(check, "TRIALS", calls)
    with pytest.raises(PolyrewardError) as error:
        check_scale(overlays, ROOT, "cpu")
    assert str(error.value).count("an illegal memory access; take another card") == 2
    assert (
        "FAILED" in printed[0] and "; lower reward_model.batch_size and raise its gradient_acc" in printed[0]
    )
    assert "a step" not in "".join(printed) and "more of it" not in str(error.value)


@pytest.fixture
def card(monkeypatch):
    """Show a card of 16 GB without bfloat16."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **options: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "an old card")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=12 * 2**30)
    )


def test_memory_precision_and_packages_are_refused_before_the_first_job_all_at_once(
    card, tmp_path, monkeypatch
):
    monkeypatch.setattr("polyreward.ops.cluster.find_spec", lambda name: None)
    overlay = tmp_path / "full.yaml"
    overlay.write_text("reward_model: {lora: null, gradient_checkpointing: true}\n")
    files = [GPU, str(overlay)]
    with pytest.raises(PolyrewardError) as error:
        check_scale(files, ROOT, "cuda")
    text = str(error.value)
    assert text.startswith("before the first job: ")
    assert "`liger: True` needs the package liger_kernel" in text
    assert (
        "an old card (compute capability 7.0) does not compute in bfloat16; set precision to float32" in text
    )
    assert (
        "qwen2.5-1.5b-instruct needs 23 GiB for weights, gradients and the optimizer's state on one GPU"
        in text
    )
    assert "qwen2.5-7b-instruct needs 14 GiB for its weights on one GPU, of 12; spread it" in text


def test_too_old_a_driver_is_named_with_what_to_do(overlays, monkeypatch, capsys):
    def old_driver():
        raise RuntimeError(
            "The NVIDIA driver on your system is too old (found version 11040).\nPlease update"
        )

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", old_driver)
    models = read_models(overlays, ROOT)
    (problem,) = start_problems(models, [], "cuda")
    assert "too old (found version 11040).). Update the driver" in problem and "--device cpu" in problem
    assert list(start_problems(models, [], "cpu")) == []
    monkeypatch.setattr("polyreward.gpu_check.check.planned_jobs", lambda *given: [])
    assert cli.main(["gpu-check", "--configfile", *overlays]) == 1
    assert "too old" in capsys.readouterr().err


def test_scores_that_differ_from_the_cpu_s_fail(tmp_path, monkeypatch):
    moved = iter([0.0, 0.01])
    real = np.stack
    monkeypatch.setattr(check.np, "stack", lambda arrays: real(arrays) + next(moved))
    with pytest.raises(PolyrewardError, match=r"differ from the CPU's by up to 0.01, more than 0.001"):
        check.as_on_the_cpu("llama", tmp_path)


def test_a_judge_over_several_cards_is_left_out(trials, overlays, tmp_path):
    trial, models = replace(trials[0], entry={"gpus": 4}), read_models(overlays, ROOT)
    found = check._tried(lambda: check._run(trial, models, tmp_path, tmp_path, Clock()), Clock(), "", "")
    assert found == {"result": "left out", "measured": "4 GPUs hold it, and this tries one"}


def test_stand_ins_have_the_sizes_of_the_catalog_and_texts_the_tokens_that_are_asked_for(tmp_path):
    shape = {**stand_ins.SMALL, "layers": 3, "width": 48, "vocabulary": 5000}
    folder = stand_ins.make_base("qwen2", stand_ins.by_shape(shape), 2, tmp_path / "base")
    config = json.loads((folder / "config.json").read_text())
    assert (config["model_type"], config["num_hidden_layers"], config["hidden_size"]) == ("qwen2", 2, 48)
    assert config["vocab_size"] == 5000
    tokenizer = AutoTokenizer.from_pretrained(folder)
    row = stand_ins.Texts(tokenizer).pair(400, 7)
    ids, cut = conversation_ids(tokenizer, row["prompt"], row["chosen"], 400)
    assert not cut and 360 < len(ids) <= 400
    assert row["chosen"] != row["rejected"] and row == stand_ins.Texts(tokenizer).pair(400, 7)
