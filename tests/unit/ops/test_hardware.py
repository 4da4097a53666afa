"""What a job ran on, in words."""

import os

import pytest

from polyreward.ops.hardware import hardware
from polyreward.ops.machine import memory_mb

CPUINFO = "processor\t: 0\nmodel name\t: A Processor 9\nflags\t\t: fpu {}\n"
MEMORY = f"{memory_mb() / 1e3:.0f} GB of memory"


@pytest.mark.parametrize(
    ("flags", "words"), [("avx avx2 avx512f", ", AVX-512"), ("avx2", ", AVX2"), ("sse4_2", "")]
)
@pytest.mark.parametrize("cores", ["1 core", "2 cores"])
def test_a_machine_is_named_by_its_processor_instructions_cores_memory_and_gpus(
    tmp_path, monkeypatch, flags, words, cores
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(int(cores[0]))))
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(CPUINFO.format(flags))
    assert hardware(tmp_path) == f"A Processor 9{words}, {cores}, {MEMORY}"
    for number in (1, 0):
        folder = tmp_path / f"proc/driver/nvidia/gpus/{number}"
        folder.mkdir(parents=True)
        (folder / "information").write_text(f"Model: \t\t A Card {number}\nIRQ:   25\n")
    assert hardware(tmp_path) == f"A Processor 9{words}, {cores}, {MEMORY}, A Card 0, A Card 1"
