"""What a machine has, how its GPUs are shared out, and which jobs it cannot hold."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from polyreward.ops import machine
from polyreward.ops.machine import available, cuda_devices, memory_mb
from polyreward.ops.workflow import limit_jobs


@pytest.fixture
def system(tmp_path):
    """Return a function that writes {path: text} below a root of their own."""

    def write(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="ascii")
        return tmp_path

    return write


@pytest.mark.parametrize(("files", "expected"), [
    ({}, None),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000000\n"}, 1000),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "2000000000", "sys/fs/cgroup/a/b/memory.max": "max"}, 2000),
    ({"proc/self/cgroup": "0::/of/the/host\n", "sys/fs/cgroup/memory.max": "3000000000\n"}, 3000),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, None),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "99999999999999999\n"}, None),
    ({"proc/self/cgroup": "4:memory:/x\n1:cpu:/y\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "500000000\n"}, 500),
    ({"proc/self/cgroup": "4:memory:/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
], ids=["none", "own", "above", "container", "max", "larger", "version 1", "version 1, none"])  # fmt: skip
def test_memory_is_the_machine_s_or_the_control_group_s(system, files, expected):
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10**6
    assert memory_mb(system(files)) == (expected or physical)


@pytest.mark.parametrize(("memory", "left"), [(64_000, 57_600), (8_000, 6_500), (1_000, 500)])
def test_a_reserve_is_kept(monkeypatch, memory, left):
    monkeypatch.setattr(machine, "memory_mb", lambda: memory)
    monkeypatch.setattr(machine, "cuda_devices", lambda: 2)
    assert available() == {"mem_mb": left, "gpu": 2}


@pytest.fixture
def devices(monkeypatch, system):
    """Return a function that counts the GPUs of a machine with some files, for a PyTorch that can use them."""
    monkeypatch.setattr(machine, "_torch_has_gpu_build", lambda: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda *files: cuda_devices(system(dict.fromkeys(files, "7\n")))


@pytest.mark.parametrize(
    ("files", "count"), [(["null"], 0), (["dxg"], 1), (["nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1"], 2)]
)
def test_gpus_are_counted(devices, files, count):
    assert devices(*(f"dev/{name}" for name in files)) == count


def test_no_cpu_of_amd_s_is_a_gpu(devices, system):
    system({"sys/class/kfd/kfd/topology/nodes/0/gpu_id": "0\n"})
    assert devices("dev/kfd") == 1  # where the nodes name none
    assert devices(*(f"sys/class/kfd/kfd/topology/nodes/{number}/gpu_id" for number in (1, 2))) == 2


@pytest.mark.parametrize(("visible", "count"), [("0", 1), ("", 0), ("-1", 0), ("1,2", 2), ("0,-1,1", 1), ("GPU-abc,GPU-def", 2),
                                                ("0,1,2,3,4,5", 3)])  # fmt: skip
def test_no_more_gpus_than_are_visible(devices, monkeypatch, visible, count):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices("dev/nvidia0", "dev/nvidia1", "dev/nvidia2") == count


@pytest.mark.parametrize(("said", "expected"), [("23028\n81559\n", 22.5), ("[N/A]\n", None), ("", None)])
def test_a_card_has_the_memory_that_nvidia_smi_says(tmp_path, monkeypatch, said, expected):
    monkeypatch.setattr(machine, "cuda_devices", lambda: 2)
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{said}'\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert machine.gpu_gib() == (expected and pytest.approx(expected, abs=0.02))
    monkeypatch.setattr(machine, "cuda_devices", lambda: 0)
    assert machine.gpu_gib() is None


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
    hidden = ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    started = []

    def seen(*counts, **more):
        """Return the devices of jobs that start one after another and stay."""
        environ, pipe = {**environment, "TMPDIR": str(tmp_path), **more}, subprocess.PIPE
        for count in counts:
            command = [sys.executable, "-c", HOLDER, str(count)]
            started.append(subprocess.Popen(command, env=environ, text=True, stdin=pipe, stdout=pipe))
        return [process.stdout.readline().strip() for process in started[-len(counts) :]]

    taken = set(seen(1, 1))
    assert taken < {"0", "1", "2"} and len(taken) == 2
    assert seen(2, 3, 0) == ["None"] * 3  # two are not free
    assert seen(1, SLURM_JOB_ID="7") == ["None"]
    for process in started:
        process.communicate()
    assert seen(2, CUDA_VISIBLE_DEVICES="GPU-a,GPU-b,GPU-c") == ["GPU-a,GPU-b"]
    started[-1].communicate()


def test_a_cluster_is_not_limited():
    flow = SimpleNamespace(executor_plugin=SimpleNamespace(name="slurm"))  # without a scheduler to limit
    limit_jobs(flow)
    assert vars(flow).keys() == {"executor_plugin"}
