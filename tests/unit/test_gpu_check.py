"""The checks of a device: here on the CPU, in miniature."""

import json
import re

import pytest
import torch

from polyreward import cli, gpu_check
from polyreward.errors import PolyrewardError
from polyreward.gpu_check import CHECKS, SIZES, Bench, Check, check_device, made_up_pairs


@pytest.fixture(scope="module")
def run(tmp_path_factory, request):
    """What one run of all checks on the CPU found, and the file that it wrote."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.cuda, "is_available", lambda: False)
        out = tmp_path_factory.mktemp("check") / "gpu_check.json"
        return check_device("cpu", out), json.loads(out.read_text())


def test_all_checks_pass_on_a_cpu_but_the_one_that_needs_cuda(run):
    checks, _ = run
    assert [check.name for check in checks] == list(CHECKS)
    assert {check.name: check.passed for check in checks} == {name: None if "Flash" in name else True for name in CHECKS}


def test_throughputs_are_written_with_device_and_model(run):
    _, record = run
    assert all(record[f"{what}_tokens_per_s"] > 0 for what in ("train", "score", "generate"))
    assert (record["device"], record["model"], record["passed"]) == ("cpu", "random Llama, 2 layers of 64", True)
    config = SIZES["cpu"].config
    width, inner = config["hidden_size"], config["intermediate_size"]
    assert record["parameters"] == config["num_hidden_layers"] * (4 * width * width + 3 * width * inner)


def test_without_cuda_it_says_so_and_ends_with_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert cli.main(["gpu-check", "--out", str(tmp_path / "out.json")]) == 1
    told = capsys.readouterr().err
    assert "there is no CUDA device that PyTorch" in told
    assert "it was built without CUDA; install the build for your driver" in told
    assert "--device cpu" in told
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert cli.main(["gpu-check", "--out", str(tmp_path / "out.json")]) == 1
    assert "it was built for CUDA 13.0, and found no driver or no card" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_a_check_that_fails_is_told_and_the_others_are_run(monkeypatch, capsys, tmp_path):
    def broken(bench):
        raise RuntimeError("CUDA error: an illegal memory access\nmore of it")

    monkeypatch.setattr(gpu_check, "CHECKS", {"first": broken, "second": lambda bench: "fine", "third": lambda bench: None})
    with pytest.raises(PolyrewardError, match="first: CUDA error: an illegal memory access"):
        check_device("cpu", tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["checks"] == {"first": "FAILED", "second": "passed", "third": "left out"}
    assert not record["passed"]
    assert re.search(r"\| second +\| passed +\| fine +\|", capsys.readouterr().out)


def test_rewards_that_bfloat16_moves_too_far_fail(tmp_path):
    bench = Bench.__new__(Bench)
    with pytest.raises(PolyrewardError, match="nothing to compare with"):
        bench.fp32 = None
        bench._beside_fp32(torch.zeros(2, 2).numpy())
    bench.fp32 = torch.tensor([[1.0, 0.0], [3.0, 0.0]]).numpy()
    assert bench._beside_fp32(bench.fp32 + 0.01).startswith("moves rewards by up to 0.01 and turns 0 of 2 preferences")
    with pytest.raises(PolyrewardError, match="moves rewards by up to 1 and turns 1 of 2 preferences; 0.24 was to be expected"):
        bench._beside_fp32(torch.tensor([[0.0, 1.0], [3.0, 0.0]]).numpy())
    with pytest.raises(PolyrewardError, match="moves rewards"):
        bench._beside_fp32(torch.full((2, 2), float("nan")).numpy())


def test_made_up_pairs_are_always_the_same_and_share_no_word():
    pairs = made_up_pairs(5, 4)
    assert pairs == made_up_pairs(5, 4)
    words = {kind: {word for pair in pairs for word in pair[kind].split()} for kind in ("chosen", "rejected")}
    assert words["chosen"] and not words["chosen"] & words["rejected"]


def test_a_check_has_a_word():
    assert gpu_check._word(Check("x", None, "").passed) == "left out"
