"""Scale gpu: it resolves, asks no service, and fits one card of 24 GB for a night, by the plan's
estimates."""

from collections import Counter

import yaml
from support import ROOT

from polyreward.ops.planning.report import disk_gib, missing_keys, too_large
from polyreward.ops.planning.sized_scale import read_scale
from polyreward.ops.planning.work import planned_jobs, work_table

GPU = "workflow/scales/gpu.yaml"


def test_it_trains_each_base_in_each_language_in_a_night_on_24_gib_and_asks_no_service():
    scale, jobs = read_scale([GPU], ROOT), planned_jobs(["all"], [GPU], ROOT)
    rules = Counter(job.rule for job in jobs)
    assert rules["reward_model"] == 20
    assert rules["dpo_policy"] == 8
    fetched = rules["base_model"] + rules["hub_model"] + rules["dataset"]
    assert rules["hub_revision"] == fetched - 2  # mini-twins, mini-pool-off-topic
    assert scale.facts["gpu"] == {"name": "NVIDIA A10 24GB", "count": 1, "memory_gib": 24}
    table = work_table(jobs, scale)
    assert not table["hours"].isna().any()
    assert 6 < table["hours"].sum() < 12
    assert too_large(jobs, scale) == []
    assert sum(disk_gib(jobs, scale).values()) < 250
    assert "server" not in set(table["kind"])
    assert missing_keys(jobs, scale, {"HF_TOKEN": "x"}) == []


def test_its_train_set_is_of_the_paper():
    config = yaml.safe_load((ROOT / GPU).read_text(encoding="utf-8"))
    assert config["pool"]["datasets"] == ["mp-86k"]
    assert config["pool"]["max_pairs"] == {"mp-86k": 8000}
