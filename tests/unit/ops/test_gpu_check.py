"""The checks of a device: here on the CPU, in miniature."""

import json
import re
from types import SimpleNamespace

import pytest
import torch

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.ops import gpu_check
from polyreward.ops.gpu_check import CHECKS, SIZES, Bench, Check, check_device, made_up_pairs, record


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
    assert {check.name: check.passed for check in checks} == {
        name: None if "Flash" in name else True for name in CHECKS
    }


def test_throughputs_are_written_with_what_they_were_measured_on(run):
    _, found = run
    assert (found["passed"], found["gpu"], list(found["tokens_per_s"])) == (
        True,
        None,
        ["train", "score", "generate"],
    )
    assert all(speed["value"] > 0 for speed in found["tokens_per_s"].values())
    assert "random Llama, 2 layers of 64, bfloat16, torch 2." in found["tokens_per_s"]["train"]["source"]


def test_throughputs_are_those_of_a_billion_parameters():
    bench = Bench.__new__(Bench)
    bench.size, bench.throughputs = (
        SIZES["cuda"],
        {"score": 1000.0},
    )  # 12 layers of 4 w^2 + 3 w (11/4 w) parameters, w = 1024
    assert record(bench, "cpu", [])["tokens_per_s"]["score"]["value"] == pytest.approx(
        1000 * 12 * 12.25 * 1024**2 / 1e9, rel=1e-3
    )


def test_the_card_is_named_with_its_memory(monkeypatch):
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=80 * 1024**3)
    )
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA A100")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    bench = Bench.__new__(Bench)
    bench.size, bench.throughputs = SIZES["cuda"], {}
    assert record(bench, "cuda", [])["gpu"] == {"name": "NVIDIA A100", "count": 4, "memory_gib": 80.0}


def test_without_cuda_it_says_so_and_ends_with_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert cli.main(["gpu-check", "--out", str(tmp_path / "out.json")]) == 1
    told = capsys.readouterr().err
    assert "there is no CUDA device that PyTorch" in told
    assert "it was built without CUDA; install the build for your driver" in told
    assert "in a job that asks for a GPU" in told and "--device cpu" in told
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert cli.main(["gpu-check", "--out", str(tmp_path / "out.json")]) == 1
    assert "it was built for CUDA 13.0, and found no driver or no card" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_a_check_that_fails_is_told_and_the_others_are_run(monkeypatch, capsys, tmp_path):
    def broken(bench):
        raise RuntimeError("CUDA error: an illegal memory access\nmore of it")

    def fine(bench):
        print("a step")
        return "fine"

    monkeypatch.setattr(gpu_check, "CHECKS", {"first": broken, "second": fine, "third": lambda bench: None})
    with pytest.raises(PolyrewardError, match="first: CUDA error: an illegal memory access"):
        check_device("cpu", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["checks"] == {"first": "FAILED", "second": "passed", "third": "left out"}
    assert not found["passed"]
    printed = capsys.readouterr().out
    assert re.search(r"\| second +\| passed +\| fine +\|", printed) and "a step" not in printed


def test_rewards_that_bfloat16_moves_too_far_fail(tmp_path):
    bench = Bench.__new__(Bench)
    with pytest.raises(PolyrewardError, match="nothing to compare with"):
        bench.fp32 = None
        bench._beside_fp32(torch.zeros(2, 2).numpy())
    bench.fp32 = torch.tensor([[1.0, 0.0], [3.0, 0.0]]).numpy()
    assert bench._beside_fp32(bench.fp32 + 0.01).startswith(
        "moves rewards by up to 0.01 and turns 0 of 2 preferences"
    )
    with pytest.raises(
        PolyrewardError,
        match="moves rewards by up to 1 and turns 1 of 2 preferences; 0.24 was to be expected",
    ):
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
