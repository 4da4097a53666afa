"""Several devices: which process speaks, what a machine cannot do, and how failed launches are reported; none
is started here."""

import errno
import json
import os
import tomllib
import zipfile
from collections import deque
from types import SimpleNamespace

import pytest
import torch
import yaml
from accelerate.commands.config.config_args import load_config_from_file
from datasets import Dataset
from safetensors.torch import load_file
from tiny_models import ROOT, settings, train
from transformers import TrainingArguments

from polyreward.core import logs
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce, report
from polyreward.core.processes import arrangement, count, is_main, max_over_processes
from polyreward.models import devices
from polyreward.models.devices import VLLM, device, vllm_problems
from polyreward.ops.machine import cuda_devices
from polyreward.sheet.sections import launch_problems
from polyreward.training import launch
from polyreward.training.common import Job, trainer_arguments
from polyreward.training.finish import last_whole_checkpoint, merged_model

CONFIGS = sorted((ROOT / "workflow/accelerate").glob("*.yaml"))
JOB = Job(1, "", "", "rm")


@pytest.fixture
def second_process(monkeypatch):
    """Make this process the second of two."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")


# --- processes


def test_a_process_that_nothing_launched_is_the_main_and_only_one(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert (is_main(), count(), max_over_processes(3)) == (True, 1, 3)


def test_the_second_process_says_nothing_but_its_own_failure_to_the_log(second_process, capsys, monkeypatch):
    assert (is_main(), count()) == (False, 2)
    announce("a step")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(logs, "_before", logs.MARK)
    report(RuntimeError, RuntimeError("no such shape"), None)
    assert capsys.readouterr().err == "process 1: RuntimeError: no such shape\n"


def test_a_full_disk_is_told_with_what_to_do(capsys):
    words = os.strerror(errno.ENOSPC)
    others = OSError(errno.ENOENT, "no file"), PolyrewardError(f"{words}; free some")
    report(OSError, OSError(errno.ENOSPC, words), None)
    assert "Free some and run again" in capsys.readouterr().err
    for error in others:
        report(type(error), error, None)
        assert "Free some" not in capsys.readouterr().err


def test_every_line_of_an_announcement_is_marked_for_the_job(capsys, monkeypatch):
    monkeypatch.setattr(logs, "_before", logs.MARK)
    announce("one\ntwo")
    assert capsys.readouterr().err == "announce: one\nannounce: two\n"


def test_how_a_model_is_shared_is_part_of_a_run(monkeypatch):
    before = arrangement()
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("FSDP_VERSION", "2")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")  # trainers set it themselves
    assert set(arrangement()) - set(before) == {"ACCELERATE_USE_FSDP=true", "FSDP_VERSION=2", "WORLD_SIZE=2"}


def checkpoint(folder, step, processes):
    """Write what a whole checkpoint of so many processes has."""
    path = folder / f"checkpoint-{step}"
    path.mkdir()
    (path / "trainer_state.json").write_text('{"global_step": 1}')
    for number in range(processes):
        torch.save({"cpu": torch.random.get_rng_state()}, path / f"rng_state_{number}.pth")
    return path


def test_a_checkpoint_is_whole_when_every_process_has_written_it(tmp_path):
    whole = (checkpoint(tmp_path, 2, processes=2) / "rng_state_1.pth").read_bytes()
    state = checkpoint(tmp_path, 4, processes=1) / "rng_state_1.pth"
    assert last_whole_checkpoint(tmp_path, 2).name == "checkpoint-2"
    state.write_bytes(whole[: len(whole) // 2])
    assert not zipfile.is_zipfile(state)
    assert last_whole_checkpoint(tmp_path, 2).name == "checkpoint-2"
    state.write_bytes(whole)
    assert last_whole_checkpoint(tmp_path, 2).name == "checkpoint-4"


# --- what a device can do


def test_bfloat16_on_a_card_without_it_says_what_to_set(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    words = r"precision: Tesla T4 \(compute capability 7.5\) does not compute in bfloat16; set precision to float32"
    with pytest.raises(PolyrewardError, match=rf"(?s)rm: what this machine cannot do: 1 problem.*{words}"):
        arguments("bfloat16")
    taken = arguments("float32")
    assert not taken["bf16"] and not taken["use_cpu"]


def arguments(precision):
    given, job = settings(), Job(1, "", "", "rm", precision)
    return trainer_arguments(given, job.recorded(given), "no folder", Dataset.from_list([]), job)


def test_the_settings_decide_the_precision_whatever_the_environment_has(monkeypatch):
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    assert TrainingArguments(**arguments("float32")).mixed_precision == "no"
    assert TrainingArguments(**arguments("bfloat16")).mixed_precision == "bf16"


def test_a_training_in_bfloat16_is_another_and_its_weights_stay_fp32(tiny_gemma, trained, tmp_path):
    coarse = train(tiny_gemma, tmp_path, precision="bfloat16")
    assert json.loads((coarse / "training.json").read_text())["settings"]["precision"] == "bfloat16"
    weights = [load_file(one / "model.safetensors") for one in (trained["tiny-gemma"], coarse)]
    exact, found = (one["model.layers.1.self_attn.q_proj.weight"] for one in weights)
    assert not torch.equal(exact, found) and torch.allclose(exact, found, atol=0.1)
    assert not torch.equal(found, found.bfloat16().float())


# --- launching


def test_without_a_launch_the_function_is_called_here():
    called = {}
    launch.train(lambda **given: called.update(given), None, JOB, settings=settings(), rows=[1])
    assert called == {"settings": settings(), "rows": [1], "job": JOB}


def test_fewer_devices_than_processes_are_told_before_anything_starts(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(launch, "find_spec", lambda name: None)
    words = (
        "(?s)rm: what devices.launch asks of this machine: 2 problems.*it needs the package deepspeed, which is not installed"
        ".*it wants 4 CUDA devices, and there are 1. Take a machine that has them"
    )  # fmt: skip
    with pytest.raises(PolyrewardError, match=words):
        launch.train(None, {"distributed_type": "DEEPSPEED", "num_processes": 4, "use_cpu": False}, JOB)


SUMMED_UP = """
Failures:
[1]:
  time      : 2026-11-22_10:00:00
  host      : node1
  rank      : {others[0]} (local_rank: {others[0]})
  exitcode  : {others[1]} (pid: 4243)
-------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_10:00:00
  host      : node1
  rank      : {cause[0]} (local_rank: {cause[0]})
  exitcode  : {cause[1]} (pid: 4242)  (SIGKILL)
  error_file: <N/A>
"""
KILLED = "was killed (SIGKILL), and the others were stopped; SIGKILL often means that memory ran out"
ENDED = "ended with exit code 1, and the others were stopped"


@pytest.mark.parametrize(("text", "code", "said"), [
    (SUMMED_UP.format(others=(0, -15), cause=(1, -9)), 1, f"process 1 of 4 (they count from 0) {KILLED}"),
    (SUMMED_UP.format(others=(1, -9), cause=(0, 1)), 1, f"process 1 of 4 (they count from 0) {KILLED}"),
    (SUMMED_UP.format(others=(1, -15), cause=(0, 1)), 1, f"process 0 of 4 (they count from 0) {ENDED}"),
    ("usage: launch", 2, "`accelerate launch` ended with exit code 2; the lines before this one say why"),
])  # fmt: skip
def test_the_process_that_ended_first_is_named(text, code, said):
    assert launch._end(deque(text.splitlines(keepends=True)), code, 4) == said


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_accelerate_reads_our_configurations(path):
    found = load_config_from_file(str(path))
    assert found.num_processes == yaml.safe_load(path.read_text())["num_processes"] > 1
    assert list(launch_problems(str(path))) == []


@pytest.mark.parametrize(("text", "problem"), [
    (None, "no such file"),
    ("{a: [", "not YAML"),
    ("[1]", "is no configuration of accelerate for several processes"),
    ("{distributed_type: MULTI_GPU, num_processes: 1}", "is no configuration of accelerate for several processes"),
    ("{distributed_type: MULTI_GPU, num_processes: 4, num_machines: 2}", "set num_machines to 1"),
])  # fmt: skip
def test_a_launch_that_is_none_is_named(tmp_path, text, problem):
    path = tmp_path / "launch.yaml"
    if text:
        path.write_text(text)
    (caught,) = launch_problems(str(path))
    assert caught.key == ("devices", "launch")
    assert problem in caught.text


def test_a_model_in_one_piece_is_the_trainers_own_and_only_the_main_process_has_it(monkeypatch):
    trainer = SimpleNamespace(is_fsdp_enabled=False, is_deepspeed_enabled=False, model=torch.nn.Linear(1, 1))
    assert merged_model(trainer, None) is trainer.model
    monkeypatch.setenv("RANK", "1")
    assert merged_model(trainer, None) is None


# --- vLLM inside GRPO


@pytest.mark.parametrize(("version", "parallel", "problems"), [
    (VLLM, 2, []),
    (None, 2, ["vllm: true needs the package vllm, which is not installed: pip install -e '.[vllm]'"]),
    ("0.9.0", 3, [f"vllm 0.9.0 is installed, and GRPO was written for {VLLM}: pip install", "3 does not divide the training's 4"]),
])  # fmt: skip
def test_what_vllm_asks_of_the_machine_is_listed_at_once(monkeypatch, version, parallel, problems):
    def installed(package):
        if version is None:
            raise devices.metadata.PackageNotFoundError(package)
        return version

    monkeypatch.setattr(devices.metadata, "version", installed)
    found = list(vllm_problems(parallel, 4))
    assert len(found) == len(problems)
    assert all(problem in text for problem, text in zip(problems, found, strict=True))


def test_the_extra_pins_the_version_that_is_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["vllm"] == [f"vllm=={VLLM}"]


def test_tests_see_no_card_also_where_there_is_one():
    """Or a quick test would compute on it, and find other numbers than a CPU's."""
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "" and not torch.cuda.is_available()
    assert device() == "cpu" and cuda_devices() == 0
