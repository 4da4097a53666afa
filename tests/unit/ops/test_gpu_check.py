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
from polyreward.ops.gpu_check import CHECKS, Bench, check_device
from polyreward.ops.hours import DATA_SHEETS
from polyreward.ops.planning import read_speeds


def test_all_checks_pass_on_a_cpu_and_the_plan_can_read_the_throughputs(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    checks = check_device("cpu", tmp_path / "throughputs.json").set_index("check")
    left_out = {"FlashAttention 2": "left out"}
    assert checks["result"].to_dict() == {**dict.fromkeys(CHECKS, "passed"), **left_out}
    speeds = read_speeds(tmp_path / "throughputs.json")
    assert set(speeds) == set(DATA_SHEETS["small"]) and min(speeds.values()) > 0


def test_the_peak_of_each_check_on_a_card_is_written_and_no_speed(monkeypatch, tmp_path):
    peaks = iter([3 * 2**30, 2**29])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: next(peaks))
    bench = SimpleNamespace(speeds={}, shape=SimpleNamespace(layers=1, layer=1))
    monkeypatch.setattr(gpu_check, "Bench", lambda size, folder: bench)
    monkeypatch.setattr(gpu_check, "CHECKS", {"first": lambda bench: "fine", "second": lambda bench: None})
    check_device("cuda", tmp_path / "throughputs.json")
    written = json.loads((tmp_path / "throughputs.json").read_text(encoding="utf-8"))
    assert written == {"peak_gib": {"first": 3.0, "second": 0.5}}
    assert read_speeds(tmp_path / "throughputs.json") == {}


@pytest.mark.parametrize(("built", "words"), [(None, "built without CUDA"), ("13.0", "built for CUDA 13.0")])
def test_without_cuda_it_says_why_and_ends_with_1(monkeypatch, capsys, built, words):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", built)
    assert cli.main(["gpu-check"]) == 1
    printed = capsys.readouterr().err
    assert words in printed and "--device cpu" in printed


def test_a_check_that_fails_is_reported_and_the_others_run(monkeypatch, capsys, tmp_path):
    def broken(bench):
        raise RuntimeError("CUDA error: an illegal memory access\nmore of it")

    def fine(bench):
        print("a step")
        return "fine"

    monkeypatch.setattr(gpu_check, "CHECKS", {"first": broken, "second": fine, "third": lambda bench: None})
    with pytest.raises(PolyrewardError, match="first: CUDA error: an illegal memory access"):
        check_device("cpu", tmp_path / "throughputs.json")
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
