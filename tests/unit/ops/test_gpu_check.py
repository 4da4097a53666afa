"""The checks of a device: here on the CPU, in miniature."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.ops import gpu_check
from polyreward.ops.gpu_check import CHECKS, Bench, check_device, made_up_pairs, record


def test_all_checks_pass_on_a_cpu_and_throughputs_are_written(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    checks = check_device("cpu", tmp_path / "out.json")
    assert dict(zip(checks["check"], checks["result"], strict=True)) == {
        name: "left out" if "Flash" in name else "passed" for name in CHECKS
    }
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["passed"] and found["gpu"] is None
    assert list(found["tokens_per_s"]) == ["train", "score", "generate"]
    assert all(speed["value"] > 0 for speed in found["tokens_per_s"].values())
    assert "random Llama, 2 layers of 64" in found["tokens_per_s"]["train"]["source"]


def test_throughputs_are_for_a_billion_parameters_and_the_card_is_named(monkeypatch):
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=80 * 1024**3)
    )
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA A100")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    found = record("cuda", {}, {"score": 1000.0})
    assert found["gpu"] == {"name": "NVIDIA A100", "count": 4, "memory_gib": 80.0}
    # 12 layers of 4 w^2 + 3 w (11/4 w) parameters, w = 1024
    expected = 1000 * 12 * 12.25 * 1024**2 / 1e9
    assert found["tokens_per_s"]["score"]["value"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("built", "words"), [(None, "built without CUDA"), ("13.0", "built for CUDA 13.0")])
def test_without_cuda_it_says_why_and_ends_with_1(monkeypatch, capsys, tmp_path, built, words):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", built)
    assert cli.main(["gpu-check", "--out", str(tmp_path / "out.json")]) == 1
    printed = capsys.readouterr().err
    assert words in printed and "--device cpu" in printed
    assert not (tmp_path / "out.json").exists()


def test_a_check_that_fails_is_reported_and_the_others_run(monkeypatch, capsys, tmp_path):
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


def test_rewards_that_bfloat16_moves_too_far_fail():
    bench = Bench.__new__(Bench)
    bench.fp32 = None
    with pytest.raises(PolyrewardError, match="nothing to compare with"):
        bench.moved(np.zeros((2, 2)))
    bench.fp32 = np.array([[1.0, 0.0], [3.0, 0.0]])
    assert bench.moved(bench.fp32 + 0.01) == "moves rewards by up to 0.01 and turns 0 of 2 preferences"
    with pytest.raises(PolyrewardError, match="turns 1 of 2 preferences; at most 0.24"):
        bench.moved(np.array([[0.0, 1.0], [3.0, 0.0]]))
    with pytest.raises(PolyrewardError, match="moves rewards"):
        bench.moved(np.full((2, 2), np.nan))


def test_made_up_pairs_are_always_the_same_and_share_no_word():
    pairs = made_up_pairs(5, 4)
    assert pairs == made_up_pairs(5, 4)
    words = {kind: {word for pair in pairs for word in pair[kind].split()} for kind in ("chosen", "rejected")}
    assert words["chosen"] and not words["chosen"] & words["rejected"]
