"""The plan of a scale: jobs by measured times, what does not fit, keys and disk."""

import re
import shutil
from types import SimpleNamespace

import pytest
from tiny_models import ROOT

from polyreward.config.scale import read_scale
from polyreward.core.errors import PolyrewardError
from polyreward.ops.planning import (
    Job,
    by_rule,
    disk_gib,
    missing_disk,
    missing_keys,
    plan_text,
    planned_jobs,
    read_speeds,
)
from polyreward.ops.resources import ModelJob, too_large

PAPER = "workflow/scales/paper.yaml"


@pytest.fixture(scope="module")
def paper():
    return read_scale([PAPER], ROOT)


@pytest.fixture(scope="module")
def jobs():
    return planned_jobs(["all"], [PAPER], ROOT)


def made_up(kind, entry, rule="made_up"):
    model = ModelJob(kind, lambda wildcards: [entry], None, {}, "bfloat16", 1, False, 90)
    return Job(rule, {}, model)


def test_no_job_is_lost_and_those_that_have_run_count_by_their_mean():
    entry = {"hub": "m", "parameters_b": 1, "kind": "classifier"}
    jobs = [made_up("score", entry), made_up("score", entry), Job("table", {}, None)]
    rules = by_rule(jobs, {"made_up": [3600.0, 7200.0]}).set_index("rule")
    assert rules["jobs"].to_dict() == {"made_up": 2, "table": 1}
    assert rules.loc["made_up", ["hours", "limit of a job (hours)"]].tolist() == [3.0, 1.5]
    assert rules["hours"].isna().tolist() == [False, True]


def test_a_job_s_limit_is_shown_in_tokens_by_what_gpu_check_measured(tmp_path):
    (tmp_path / "throughputs.json").write_text('{"train": 1000, "score": 4000.0}')
    speeds = read_speeds(tmp_path / "throughputs.json")
    entry = {"hub": "m", "parameters_b": 2}
    jobs = [made_up("train", entry, rule="train"), made_up("score", entry, rule="score"), Job("t", {}, None)]
    tokens = by_rule(jobs, {}, speeds).set_index("rule")["million tokens in it"]
    assert tokens[["train", "score"]].tolist() == [2.7, 10.8] and tokens.isna()["t"]
    assert "million tokens in it" not in by_rule(jobs, {})
    (tmp_path / "throughputs.json").write_text("[]")
    with pytest.raises(PolyrewardError, match=r"throughputs.json: not what `polyreward gpu-check` writes"):
        read_speeds(tmp_path / "throughputs.json")


def test_models_of_70_billion_parameters_fit_the_cards_that_their_entries_ask_for(jobs):
    asked = [(job.rule, job.wildcards, job.model) for job in jobs]
    assert too_large(asked, 79) == []
    (line,) = [line for line in too_large(asked, 24) if "infly/INF-ORM-Llama3.1-70B" in line]
    assert re.match(
        r".*catalogued_reward_scores.*: .* needs \d+ GiB on each of 4 GPUs, of 24; serve it", line
    )


def test_disk_counts_what_is_fetched_and_every_trained_model(jobs, paper):
    found = disk_gib(jobs, paper)
    rewarding, judges = (3.21 + 3.09 + 7.62) * 5, 7.62 * (8 + 4) + 3.09 * 17
    warmups = sum(job.rule in ("locals_warmup", "sft_policy") for job in jobs) * 7.62
    assert found["trained"] == pytest.approx((rewarding + judges + warmups) * 4e9 / 1024**3, rel=0.01)
    assert 430 < found["from the hub or packages"] < 440


def test_a_disk_that_is_too_small_is_named_with_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 * 1024**3))
    assert missing_disk(99, tmp_path / "results") == []
    (line,) = missing_disk(101, tmp_path / "results")
    assert line.startswith("The models take 101 GiB of disk") and "has 100 free" in line


def test_missing_keys_are_named_with_what_wants_them(jobs, paper):
    token, key = missing_keys(jobs, paper, {})
    assert token.startswith("HF_TOKEN is not set, and llama-3.2-3b-instruct, omgeval want it (gated)")
    assert key.startswith("OPENAI_API_KEY is not set, and gpt-4-turbo-2024-04-09, gpt-4.1-2025-04-14, gpt-4o")
    assert missing_keys(jobs, paper, {"HF_TOKEN": "x", "OPENAI_API_KEY": "y"}) == []


def test_the_plan_says_first_what_does_not_fit_and_how_each_number_came_about(tmp_path):
    (tmp_path / "benchmarks/reward_model").mkdir(parents=True)
    (tmp_path / "benchmarks/reward_model/a.tsv").write_text("s\tmax_rss\n1800\t-\n", encoding="utf-8")
    text = plan_text(["results/tiny/table1.csv"], ["workflow/scales/tiny.yaml"], ROOT, 80, tmp_path)
    parts = ["# Scale results/tiny: ", " 5.0 hours for the 10 of", "**Hours** are", "## What does not fit", "## Keys", "## Jobs", "| reward_model ", "## Disk"]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and "nan" not in text


def test_a_scale_that_does_not_resolve_is_an_error():
    with pytest.raises(PolyrewardError, match="nowhere.csv"):
        planned_jobs(["nowhere.csv"], ["workflow/scales/tiny.yaml"], ROOT)
    with pytest.raises(PolyrewardError, match="nowhere.yaml: no such file; name an overlay"):
        planned_jobs(["all"], ["nowhere.yaml"], ROOT)
