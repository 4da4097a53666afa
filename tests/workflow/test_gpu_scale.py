"""Scale gpu: it resolves, asks no service, and fits one card of 24 GB."""

from collections import Counter

import yaml
from support import ROOT

from polyreward.ops.planning import disk_gib, missing_keys, planned_jobs
from polyreward.ops.resources import too_large
from polyreward.sheet.entries import read_models

GPU = "workflow/scales/gpu.yaml"


def test_it_trains_each_base_in_each_language_on_24_gib_and_asks_no_service():
    scale, jobs = read_models([GPU], ROOT), planned_jobs(["all"], [GPU], ROOT)
    rules = Counter(job.rule for job in jobs)
    assert rules["reward_model"] == 15
    assert rules["dpo_policy"] == 8
    fetched = rules["base_model"] + rules["hub_model"] + rules["dataset"]
    assert rules["hub_revision"] == fetched - 2  # mini-twins, mini-pool
    assert too_large(jobs, 22) == []
    assert sum(disk_gib(jobs, scale).values()) < 250
    assert not any("server" in entry for job in jobs for entry in job.held)
    assert missing_keys(jobs, scale, {"HF_TOKEN": "x"}) == []


def test_it_states_every_setting_of_scale_mini_and_takes_none_over():
    mini, own = (yaml.safe_load((ROOT / path).read_text(encoding="utf-8")) for path in ("config.yaml", GPU))
    del mini["own_benchmarks"], mini["reward_models"], mini["translation"]["engines"]
    assert list(not_stated(mini, own)) == []


def not_stated(settings, own, key=""):
    """Yield the dotted keys of settings that an overlay leaves as they are."""
    for name, value in settings.items():
        if name not in own:
            yield f"{key}{name}"
        elif isinstance(value, dict) and isinstance(own[name], dict):
            yield from not_stated(value, own[name], f"{key}{name}.")
