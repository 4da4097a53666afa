"""Reported before the first job: the site's file, what SLURM refuses, jobs left over, settings for a GPU."""

import json
import stat
from types import SimpleNamespace

import pytest
from support import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops import cluster
from polyreward.ops.cluster import (
    leftovers,
    missing_packages,
    refusals,
    sbatch_options,
    site_settings,
    start_problems,
)
from polyreward.ops.workflow import follow_code, site_of
from polyreward.sheet.entries import read_models

SITE = {
    "account": None,
    "partition": "cpu",
    "gpu_partition": "gpu",
    "gpu_type": None,
    "status_command": "squeue",
}


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Return a function that puts a shell script on the path, which is else empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(stat.S_IRWXU)

    return put


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that writes the site's file: SITE with changes, less some keys; JSON is YAML."""
    path = tmp_path / "site.yaml"
    monkeypatch.setenv("POLYREWARD_SITE", str(path))

    def write(*less, **changed):
        kept = {key: value for key, value in {**SITE, **changed}.items() if key not in less}
        path.write_text(json.dumps(kept), encoding="utf-8")

    return write


def job(rule, params=None, threads=1, is_local=False, **resources):
    named = {"params": params or {}, "threads": threads, "is_local": is_local}
    return SimpleNamespace(rule=SimpleNamespace(name=rule), resources=resources, **named)


def test_everything_wrong_in_a_site_file_is_named_at_once_and_the_profile_s_is_right(site, monkeypatch):
    site("account", accont="mine", partition=None, gpu_partition=7, status_command="scontrol")
    with pytest.raises(PolyrewardError) as error:
        site_settings()
    for said in (
        "5 problems", "accont: unknown key; did you mean `account`", "account: Field required",
        "partition: Input should be a valid string", "gpu_partition: Input should be a valid string, not 7", "not 'scontrol'",
    ):  # fmt: skip
        assert said in str(error.value)
    monkeypatch.setenv("POLYREWARD_SITE", "nowhere.yaml")
    with pytest.raises(PolyrewardError, match="nowhere.yaml: there is no such file"):
        site_settings()
    monkeypatch.delenv("POLYREWARD_SITE")
    assert list(site_settings()) == list(SITE)


def test_a_request_is_written_as_sbatch_reads_it():
    asked = {"slurm_partition": "gpu", "slurm_account": "lab", "mem_mb": 9, "runtime": 60, "gpu": 4}
    assert " ".join(sbatch_options(job("a", threads=8, gpu_model="a100", **asked))) == (
        "--partition=gpu --account=lab --nodes=1 --cpus-per-task=8 --mem=9 --time=60 --gpus=a100:4"
    )
    unknown = sbatch_options(job("a", slurm_partition="cpu", mem_mb="<TBD>"))
    assert list(unknown) == ["--partition=cpu", "--nodes=1", "--cpus-per-task=1"]


def test_each_refusal_is_named_once_with_its_rules(tools):
    tools("sbatch", 'case "$*" in *gpus*) echo "allocation failure: Requested node" >&2; exit 1;; esac')
    jobs = [job("train", gpu=4), job("score", gpu=1), job("table1", mem_mb=10)]
    (said,) = refusals(jobs)
    assert said.startswith(
        "score, train: SLURM refuses `sbatch --nodes=1 --cpus-per-task=1 --gpus=4`: allocation failure"
    )


def test_jobs_of_an_earlier_run_in_this_folder_are_named_and_a_queue_that_cannot_be_asked(tools, tmp_path):
    with pytest.raises(PolyrewardError, match="`squeue` is not found; start this on a login node"):
        list(start_problems("slurm", []))
    (tmp_path / "link").symlink_to(tmp_path)
    tools("squeue", f"echo '7|/elsewhere'; echo '8|{tmp_path}'; echo '9|{tmp_path / 'link'}'")
    (said,) = leftovers(tmp_path)
    assert "8, 9;" in said and "`scancel 8 9`" in said
    tools("squeue", "")
    assert list(leftovers(tmp_path)) == []
    tools("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(PolyrewardError, match="squeue --me.* failed: Unable to contact"):
        list(leftovers(tmp_path))


@pytest.mark.parametrize(("params", "wanted"), [
    ({"settings": {"optimizer": "paged_adamw_8bit"}}, ["optimizer: paged_adamw_8bit"]),
    ({"scoring": {"attention": "flash_attention_2", "dtype": "bfloat16"}}, ["attention: flash_attention_2"]),
    ({"settings": {"vllm": True, "liger": True}}, ["vllm: True", "liger: True"]),
    ({"launch": {"use_cpu": False, "num_processes": 4}}, ["use_cpu: False"]),
    ({"launch": {"use_cpu": True, "num_processes": 2}}, []),
    ({"launch": None}, []),
    ({"settings": {"optimizer": "adamw_torch", "vllm": False}, "scoring": {"attention": "sdpa"}, "seed": 1}, []),
])  # fmt: skip
def test_without_a_gpu_a_local_run_says_which_rules_need_one(monkeypatch, params, wanted):
    jobs = [job("reward_model", params, is_local=True), job("table1", {"code": "1"}, is_local=True)]
    monkeypatch.setattr(cluster, "cuda_devices", lambda: 0)
    said = [line.partition(", and this machine has none; ")[0] for line in start_problems("local", jobs)]
    assert said == [f"reward_model: `{one}` runs on a CUDA GPU only" for one in wanted]
    monkeypatch.setattr(cluster, "cuda_devices", lambda: 1)
    assert list(start_problems("local", jobs)) == []
    assert list(start_problems("dryrun", jobs)) == []


@pytest.mark.parametrize("scale", ["gpu", "paper"])
def test_every_package_that_a_scale_s_trainings_need_is_named_before_the_first_job(scale, monkeypatch):
    plan = read_models([f"workflow/scales/{scale}.yaml"], ROOT).settings
    trainings = {
        "reward_model": plan.training_arguments(plan.reward_model),
        "dpo_policy": plan.policy_arguments(plan.alignment.dpo),
        "locals_grpo": plan.policy_arguments(plan.think_as_locals.grpo),
    }
    monkeypatch.chdir(ROOT)
    jobs = [job(rule, {"training": training, "launch": plan.launch}) for rule, training in trainings.items()]
    monkeypatch.setattr(cluster, "find_spec", lambda module: None)
    said = {line.split("the package ")[1].split(",")[0]: line for line in missing_packages(jobs)}
    wanted = {"gpu": {"liger_kernel"}, "paper": {"liger_kernel", "bitsandbytes", "deepspeed", "vllm"}}
    assert said.keys() == wanted[scale]
    assert said["liger_kernel"] == (
        "dpo_policy, locals_grpo: `liger: True` needs the package liger_kernel, which is not installed: pip"
        " install -e '.[cuda]'"
    )
    monkeypatch.setattr(cluster, "find_spec", lambda module: module)
    assert list(missing_packages(jobs)) == []


def test_on_slurm_a_job_that_needs_a_gpu_must_ask_for_one(tools):
    tools("squeue", "")
    tools("sbatch", "")
    params = {"scoring": {"attention": "flash_attention_2"}}
    (said,) = start_problems("slurm", [job("reward_scores", params), job("carb_scores", params, gpu=1)])
    assert said.startswith("reward_scores: ") and "set gpu_partition in " in said


def test_the_profile_asks_for_what_its_site_has(site):
    yte = pytest.importorskip("yte")

    def asked(**changed):
        site(**changed)
        with open(ROOT / "workflow/profiles/slurm/config.yaml", encoding="utf-8") as stream:
            return yte.process_yaml(stream, require_use_yte=True)["default-resources"]

    assert asked(account="my-lab", gpu_type="a100")["slurm_account"] == "'my-lab'"
    assert "slurm_account" not in asked()


def test_a_site_counts_only_where_jobs_run_by_the_profile(site):
    site()
    for default, expected in ((None, None), ({"mem_mb": 1}, None), ({"slurm_partition": "cpu"}, SITE)):
        settings = SimpleNamespace(default_resources=default)
        assert site_of(SimpleNamespace(resource_settings=settings)) == expected


@pytest.mark.parametrize("own", [[], ["hep-cpp"], lambda wildcards: []])
def test_a_rule_may_not_have_a_param_that_the_hash_of_its_code_replaces(own):
    rule = SimpleNamespace(name="evaluation_set", script="x.py", params=SimpleNamespace(code=own))
    with pytest.raises(ValueError, match="rule evaluation_set: its own param `code` would be lost"):
        follow_code([rule], portable=False)
