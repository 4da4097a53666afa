"""Scale gpu: it resolves, asks no service, and fits one card of 24 GB for a night, by the plan's
estimates."""

import yaml
from support import ROOT, jobs_of, planned_whole

from polyreward.ops.planning.estimate import disk_gib, gpu_hours, missing_keys, too_large
from polyreward.ops.planning.sized_scale import read_scale
from polyreward.ops.planning.work import work

GPU = "workflow/scales/gpu.yaml"


def test_it_resolves_and_trains_each_base_in_each_language():
    ran = planned_whole("--configfile", GPU)
    assert ran.returncode == 0, ran.stdout
    jobs = jobs_of(ran)
    assert jobs["reward_model"] == 20
    assert jobs["dpo_policy"] == 8
    assert (
        jobs["hub_revision"] == jobs["base_model"] + jobs["hub_model"] + jobs["dataset"] - 2
    )  # mini-twins, mini-pool-off-topic


def test_it_takes_a_night_and_24_gib():
    scale = read_scale([GPU], ROOT)
    assert scale.facts["gpu"] == {"name": "NVIDIA A10 24GB", "count": 1, "memory_gib": 24}
    table = work(scale)
    hours = gpu_hours(table, scale)
    assert not hours.isna().any()
    assert 6 < hours.sum() < 12
    assert too_large(table, scale) == []
    assert sum(disk_gib(scale).values()) < 250


def test_it_asks_no_service_but_the_hub():
    scale = read_scale([GPU], ROOT)
    assert "server" not in set(work(scale)["kind"])
    assert missing_keys(scale, {"HF_TOKEN": "x"}) == []


def test_its_train_set_is_of_the_paper():
    config = yaml.safe_load((ROOT / GPU).read_text(encoding="utf-8"))
    assert config["pool"]["datasets"] == ["mp-86k"]
    assert config["pool"]["max_pairs"] == {"mp-86k": 8000}
