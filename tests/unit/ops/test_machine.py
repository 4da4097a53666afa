"""What jobs ask for, what a machine has, and what is wrong with what a run may use of it."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from polyreward.ops import machine
from polyreward.ops.machine import (
    Machine,
    cuda_devices,
    job_memory_mb,
    machine_problems,
    memory_mb,
    model_memory_mb,
    parameters_b,
)

LAPTOP = Machine(memory_mb=16_000, devices=1)
MODELS = {
    "small": {"source": {"kind": "pypi"}, "parameters_b": 0.268},
    "random": {"source": {"kind": "random"}},
    "unknown": {"source": {"kind": "hub", "id": "a/b"}},
}
GEMMA_MB, SMOLLM2_MB = 1072, 538  # weights in float32


# What jobs of scale mini took, in MiB by Snakemake's benchmark files
@pytest.mark.parametrize(("kind", "weights_mb", "peak_mib"), [
    ("train", GEMMA_MB, 2942), ("score", GEMMA_MB, 2859), ("score", GEMMA_MB, 2425), ("generate", GEMMA_MB, 2104),
    ("train", GEMMA_MB, 2651), ("score", GEMMA_MB, 2153), ("score", GEMMA_MB, 1607), ("score", GEMMA_MB, 2037),
    ("generate", GEMMA_MB, 2340), ("train", SMOLLM2_MB, 2480), ("train", SMOLLM2_MB, 2622),
])  # fmt: skip
def test_a_job_asks_for_what_it_was_seen_to_take_and_not_for_far_more(kind, weights_mb, peak_mib):
    asked = job_memory_mb(kind, weights_mb)
    assert peak_mib * 1.048576 < asked <= 4000


def test_a_model_of_nothing_asks_for_the_program_alone():
    assert job_memory_mb("train", 0) == machine.PROGRAM


def test_full_training_holds_gradients_and_moments():
    assert job_memory_mb("train", 4000, full_training_b=1) - job_memory_mb("train", 4000) == 12_000


def test_of_several_models_the_largest_counts_and_a_reference_beside_its_policy():
    small, random = {"model": "small"}, {"model": "random"}
    one = model_memory_mb("score", [small], MODELS)
    assert model_memory_mb("score", [random, small, random], MODELS) == one
    assert model_memory_mb("score", [{**small, "reference": small}], MODELS) > one + 1000
    assert model_memory_mb("score", [{**small, "dtype": "bfloat16"}], MODELS) < one - 500
    assert model_memory_mb("score", [small], MODELS, dtype="bfloat16") < one - 500
    assert model_memory_mb("train", [MODELS["small"]], MODELS, full_training=True) > one + 3000


def test_a_server_s_model_is_not_here():
    assert (
        model_memory_mb("score", [{"kind": "generative", "server": {"url": "http://localhost"}}], MODELS)
        == machine.TABLE_MB
    )
    assert model_memory_mb("generate", [], MODELS) == machine.TABLE_MB


def test_a_folder_s_parameters_are_counted_by_its_header(tmp_path):
    assert parameters_b({"path": str(tmp_path)}, MODELS) == machine.UNKNOWN_B
    tensors = {"a": torch.zeros(1000, 2000, dtype=torch.bfloat16), "b": torch.zeros(500)}
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert parameters_b({"path": str(tmp_path)}, MODELS) == pytest.approx(2_000_500 / 1e9)
    assert parameters_b({"source": {"kind": "path", "path": str(tmp_path)}}, MODELS) == pytest.approx(
        2_000_500 / 1e9
    )


@pytest.mark.parametrize("content", [b"", b"no safetensors at all", (8).to_bytes(8, "little") + b"[1,2,3]"])
def test_a_file_that_is_no_model_is_left_to_the_job_that_reads_it(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    assert parameters_b({"path": str(tmp_path)}, MODELS) == machine.UNKNOWN_B


def test_sizes_are_the_catalog_s():
    assert parameters_b({"model": "small", "parameters_b": 7.5}, MODELS) == 7.5
    assert parameters_b({"model": "small"}, MODELS) == 0.268
    assert parameters_b(MODELS["random"], MODELS) == 0
    assert parameters_b(MODELS["unknown"], MODELS) == machine.UNKNOWN_B


# Memory


@pytest.fixture
def system(tmp_path):
    """Return a function that writes files below a root of their own."""

    def write(**files):
        for path, text in files["files"].items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="ascii")
        return tmp_path

    return write


def physical():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10**6


@pytest.mark.parametrize(("files", "expected"), [
    ({}, None),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000000\n"}, 1000),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "2000000000", "sys/fs/cgroup/a/b/memory.max": "max"}, 2000),
    ({"proc/self/cgroup": "0::/of/the/host\n", "sys/fs/cgroup/memory.max": "3000000000\n"}, 3000),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, None),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999999999\n"}, None),
    ({"proc/self/cgroup": "4:memory:/x\n1:cpu:/y\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "500000000\n"}, 500),
    ({"proc/self/cgroup": "4:memory:/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
], ids=["none", "2", "2, above", "2, container", "2, max", "2, larger", "1", "1, none"])  # fmt: skip
def test_memory_is_the_machine_s_or_the_control_group_s(system, files, expected):
    assert memory_mb(system(files=files)) == (expected or physical())


def test_a_reserve_is_kept():
    assert Machine(64_000, 0).handed_out() == {"mem_mb": 57_600, "gpu": 0}
    assert Machine(8_000, 2).handed_out() == {"mem_mb": 6_500, "gpu": 2}
    assert Machine(1_000, 0).handed_out()["mem_mb"] == 500


# GPUs


@pytest.fixture
def devices(monkeypatch, system):
    """Return a function that counts the GPUs of a machine with some files, by a PyTorch that is built for
    them."""
    monkeypatch.setattr(machine, "_torch_has_gpu_build", lambda: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda *files: cuda_devices(system(files=dict.fromkeys(files, "7\n")))


def test_gpus_are_counted(devices):
    assert devices("dev/null") == 0
    assert devices("dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia0", "dev/nvidia1") == 2


def test_amd_s_gpus_are_counted_without_the_cpu(devices, system):
    system(files={"sys/class/kfd/kfd/topology/nodes/0/gpu_id": "0\n"})
    assert devices("dev/kfd", "sys/class/kfd/kfd/topology/nodes/1/gpu_id") == 1


@pytest.mark.parametrize(("visible", "count"), [("0", 1), ("", 0), ("-1", 0), ("1,2", 2), ("0,-1,1", 1), ("GPU-abc,GPU-def", 2),
                                                ("0,1,2,3,4,5", 3)])  # fmt: skip
def test_no_more_gpus_than_are_visible(devices, monkeypatch, visible, count):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices("dev/nvidia0", "dev/nvidia1", "dev/nvidia2") == count


@pytest.mark.parametrize(("text", "expected"), [
    ("cuda: Optional[str] = None\nhip: Optional[str] = None\n", False), ("cuda: Optional[str] = '12.8'\n", True),
    ("cuda = '12.8'\nhip = None\n", True), ("cuda: Optional[str] = None\nhip: Optional[str] = '6.4'\n", True),
])  # fmt: skip
def test_a_pytorch_for_cpus_uses_no_gpu(tmp_path, monkeypatch, text, expected):
    (tmp_path / "version.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(
        machine, "find_spec", lambda name: SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    )
    assert machine._torch_has_gpu_build() is expected
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert machine._torch_has_gpu_build() is True


HOLDER = """
import os, sys
from polyreward.ops import machine
machine.cuda_devices = lambda: 3
machine.take_gpus(int(sys.argv[1]))
print(os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""


def test_jobs_at_a_time_have_devices_of_their_own(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
        environment.pop(name, None)

    def job(count, **more):
        return subprocess.Popen([sys.executable, "-c", HOLDER, str(count)], env={**environment, **more}, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def seen(process):
        return process.stdout.readline().strip()

    def end(*processes):
        for process in processes:
            process.communicate()

    first, second = job(1), job(1)
    taken = {seen(first), seen(second)}
    assert taken < {"0", "1", "2"}
    assert len(taken) == 2
    two, all_three, none, cluster = job(2), job(3), job(0), job(1, SLURM_JOB_ID="7")
    assert [seen(process) for process in (two, all_three, none, cluster)] == ["None"] * 4  # two are not free
    end(first, second, two, all_three, none, cluster)
    again = job(2, CUDA_VISIBLE_DEVICES="GPU-a,GPU-b,GPU-c")
    assert seen(again) == "GPU-a,GPU-b"
    end(again)


# What is wrong before the first job


class Limits(dict):
    def __setitem__(self, name, value):
        super().__setitem__(
            name, value if isinstance(value, SimpleNamespace) else SimpleNamespace(value=value)
        )


def workflow(**stated):
    limits = Limits()
    for name, value in stated.items():
        limits[name] = value
    return SimpleNamespace(global_resources=limits)


def job(flow, rule, **asked):
    """Return a job as Snakemake has it, whose request is cut to the limits, as long as there are some."""

    def expand(wildcards, inputs, attempt):
        limits = {
            name: limit.value for name, limit in flow.global_resources.items() if limit.value is not None
        }
        return {
            name: min(value, limits.get(name, value)) if isinstance(value, int) else value
            for name, value in asked.items()
        }

    return SimpleNamespace(
        rule=SimpleNamespace(name=rule, expand_resources=expand), wildcards_dict={}, input=[], attempt=1
    )


def problems(flow, *jobs, here=LAPTOP):
    return list(machine_problems(flow, jobs, here))


def test_jobs_that_fit_are_no_problem():
    flow = workflow()
    assert (
        problems(flow, job(flow, "a", mem_mb=14_400, gpu=1), job(flow, "b"), job(flow, "c", mem_mb="<TBD>"))
        == []
    )


def test_all_that_a_machine_cannot_hold_is_said_at_once():
    flow = workflow()
    found = problems(
        flow,
        job(flow, "train", mem_mb=20_000),
        job(flow, "train", mem_mb=30_000, gpu=4),
        job(flow, "score", mem_mb=15_000),
    )
    assert len(found) == 3
    assert found[0].startswith(
        "score: a job asks for 15000 MB of memory, and there are 14400 (this machine's 16000, less 1600 for"
        " all else); hand out more (`--resources mem_mb=15000`), with other programs closed; use a machine"
        " with more"
    )
    assert found[1].startswith("train: a job asks for 30000 MB of memory, and there are 14400")
    assert "; use a machine with more, or a smaller model" in found[1]
    assert "--resources" not in found[1]
    assert "`--set-resources train:mem_mb=...`" in found[1]
    assert (
        found[2]
        == "train: a job asks for 4 GPUs, and there are 1; use a machine with as many, or ask for fewer"
    )


def test_what_a_person_states_holds_and_does_not_hide_a_request():
    flow = workflow(mem_mb=12_000)
    found = problems(flow, job(flow, "train", mem_mb=13_000))
    assert len(found) == 1
    assert (
        "train: a job asks for 13000 MB of memory, and the command line or a profile hands out 12000"
        in found[0]
    )
    assert flow.global_resources["mem_mb"].value == 12_000
    assert problems(workflow(mem_mb=16_000), job(workflow(), "train", mem_mb=15_500)) == []


def test_more_than_the_machine_has_is_refused():
    found = problems(workflow(mem_mb=64_000, gpu=2))
    assert found == [
        (
            "the command line or a profile hands out mem_mb=64000, and this machine has 16000; give at most"
            " that (`--resources mem_mb=16000`), or leave it out: then jobs get 14400"
        ),
        (
            "the command line or a profile hands out gpu=2, and this machine has 1; give at most that"
            " (`--resources gpu=1`), or leave it out: then jobs get 1"
        ),
    ]


def test_limits_are_put_back_where_a_request_fails():
    flow = workflow(mem_mb=12_000)
    broken = job(flow, "a")
    broken.rule.expand_resources = lambda *_: json.loads("{")
    with pytest.raises(json.JSONDecodeError):
        problems(flow, broken)
    assert flow.global_resources["mem_mb"].value == 12_000


def test_a_cluster_is_not_limited():
    flow = SimpleNamespace(
        executor_plugin=SimpleNamespace(name="slurm")
    )  # without a scheduler that could be limited
    machine.hand_out(flow)
    assert vars(flow).keys() == {"executor_plugin"}
