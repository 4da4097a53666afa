"""The plan of a scale: jobs by measured times, what does not fit, keys and disk."""

import dataclasses
import re
import shutil
from math import isnan
from types import SimpleNamespace

import pandas as pd
import pytest
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops import planning
from polyreward.ops.planning import (
    Hours,
    asked_of_servers,
    by_rule,
    disk_gib,
    missing_disk,
    missing_keys,
    plan_text,
    planned_jobs,
    time_text,
    too_long,
)
from polyreward.ops.resources import Job, ModelJob, too_large, unset_keys
from polyreward.ops.trials import Speeds, read_speeds, settings_digest
from polyreward.ops.work import Counts, Work
from polyreward.sheet.data import quartet_choices
from polyreward.sheet.entries import read_models

PAPER, TINY = "workflow/scales/paper.yaml", "workflow/scales/tiny.yaml"


@pytest.fixture(scope="module")
def paper():
    return read_models([PAPER], ROOT)


@pytest.fixture(scope="module")
def jobs():
    return planned_jobs(["all"], [PAPER], ROOT)


def made_up(kind, rule="made_up", **wildcards):
    entry = {"hub": "m", "parameters_b": 2}
    model_job = ModelJob(kind, lambda wildcards: [entry], None, {}, "bfloat16", 1, False, 90)
    return Job(rule, SimpleNamespace(**wildcards), model_job)


def hours(models, ran=(), reference=(), speeds=None):
    return Hours(dict(ran), dict(reference), speeds, Counts(models, ROOT))


def checked(models, *trials, **changes):
    """Return gpu-check's speeds: rows of (rules, model, speed)."""
    rows = [
        {"kind": "a kind", "model": model, "rules": rules, "result": "passed", "measured": "", **speed}
        for rules, model, speed in trials
    ]
    return Speeds(models.settings.results, settings_digest(models), "a card", rows)


def test_no_job_is_lost_and_those_that_have_run_count_by_their_mean(paper):
    jobs = [made_up("score"), made_up("score"), Job("table", {}, None)]
    rules = by_rule(jobs, hours(paper, {"made_up": [3600.0, 7200.0]})).set_index("rule")
    assert rules["jobs"].to_dict() == {"made_up": 2, "table": 1}
    assert rules.loc["made_up", ["hours", "limit of a job (hours)", "by"]].tolist() == [3.0, 1.5, "this run"]
    assert rules["hours"].isna().tolist() == [False, True]


def test_tokens_are_empty_where_a_job_is_not_counted_and_0_where_nothing_computes(paper):
    jobs = [made_up("score"), Job("table", {}, None), made_up("train", rule="dpo_policy")]
    rules = by_rule(jobs, hours(paper)).set_index("rule")
    tokens = rules[["read (M tokens)", "learned (M tokens)", "steps of writing (k)"]]
    assert tokens.loc["made_up"].isna().all() and (tokens.loc["table"] == 0).all()
    assert (tokens.loc["dpo_policy"] > 0).tolist() == [True, True, False]


def test_only_a_plan_for_cards_has_their_columns():
    """A scale that names the memory of its GPUs is for cards, wherever it is planned."""
    targets = {TINY: "results/tiny/table2.csv", PAPER: "results/paper/table2.csv"}
    for scale, target in targets.items():
        text = plan_text([target], [scale], ROOT)
        of_cards = scale == PAPER
        assert ("GiB of a GPU" in text, "limit of a job" in text) == (of_cards, of_cards)
        assert "| rule " in text and "computes" not in text


def test_hours_come_from_the_run_then_the_reference_then_gpu_check_and_else_there_are_none(paper):
    job = made_up("score", rule="single_scores")
    job = dataclasses.replace(job, wildcards=SimpleNamespace(benchmark="rewardbench", language="en"))
    speeds = checked(paper, (["single_scores"], "m", {"tokens_per_s": 1000.0}))
    known = hours(paper, {"single_scores": [7.0]}, {"single_scores": 8.0}, speeds)
    assert known.seconds(job) == (7.0, "this run")
    assert hours(paper, {}, {"single_scores": 8.0}, speeds).seconds(job) == (8.0, "reference run")
    seconds, by = hours(paper, speeds=speeds).seconds(job)
    assert (seconds, by) == (pytest.approx(2 * 2985 * 420 / 1000), "gpu-check")
    other = checked(paper, (["single_scores"], "another", {"tokens_per_s": 1000.0}))
    for without in (None, other):
        seconds, by = hours(paper, speeds=without).seconds(job)
        assert isnan(seconds) and by == ""
    text = time_text(by_rule([job], hours(paper)), "Nothing was measured.")
    assert text == "Jobs with models that nothing measured, so without hours: 1. Nothing was measured."


def test_each_kind_of_speed_counts_what_it_is_of(paper):
    """Tokens of a training, steps of writing, requests of a judge, updates of GRPO."""
    learning = Work(reads=5, learns=100)
    for speed, work, seconds in [
        ({"tokens_per_s": 20.0}, learning, 5.0), ({"tokens_per_s": 20.0}, Work(reads=40), 2.0),
        ({"step_ms": 500.0}, Work(steps=8), 4.0), ({"request_s": 0.5}, Work(reads=9, requests=6), 3.0),
        ({"update_s": 10.0}, Work(reads=9, learns=9, steps=9, updates=3), 30.0), ({}, learning, None),
        ({"tokens_per_s": 20.0}, Work(), None), ({"request_s": 0.5}, Work(), None),  # not counted: unknown, not 0
    ]:  # fmt: skip
        assert checked(paper, (["made_up"], "m", speed)).seconds(made_up("score"), work, paper) == seconds


def test_only_speeds_of_this_very_scale_and_card_count(paper, tmp_path):
    path = tmp_path / "throughputs.json"
    assert read_speeds(path, paper, None)[1].startswith("Nothing was measured of this scale: run `polyreward")
    checked(paper, (["made_up"], "m", {"step_ms": 1.0})).write(path)
    for card in (None, "a card"):
        found, words = read_speeds(path, paper, card)
        assert found.trials[0]["step_ms"] == 1.0 and words == f"{path}, measured on a card"
    found, words = read_speeds(path, paper, "another card")
    assert found is None and "another card, a card, not on another card" in words
    found, words = read_speeds(path, read_models([TINY], ROOT), "a card")
    assert found is None and "with other settings, of results/paper: run" in words
    for text in ("[]", '{"train": 1000}', '{"results": "", "settings": "", "card": "", "trials": [{}]}'):
        path.write_text(text)
        with pytest.raises(
            PolyrewardError, match=r"throughputs.json: not what `polyreward gpu-check` writes"
        ):
            read_speeds(path, paper, None)


def test_the_tokens_of_a_reward_model_are_those_of_its_pairs(paper):
    """86,000 pairs of 420 tokens, longer in Korean, and padded."""
    model = ModelJob("train", lambda wildcards: ["llama"], None, {"llama": {}}, "bfloat16", 4, False, 90)
    korean = Job("reward_model", SimpleNamespace(model="llama_ko"), model)
    assert Counts(paper, ROOT).work(korean).learns == pytest.approx(2 * 86_000 * 420 * 1.4 * 1.8)


def test_topics_of_place_quartets_are_counted_as_they_are_built():
    """All 98 that are built where a scale takes all; else 32 of facts and 14 of formats."""
    models = read_models([], ROOT)
    found = {}
    for count in (None, 32):
        quartets = models.settings.carb.quartets.model_copy(update={"max_topics": count})
        carb = models.settings.carb.model_copy(update={"quartets": quartets})
        settings = models.settings.model_copy(update={"carb": carb})
        found[count] = Counts(dataclasses.replace(models, settings=settings), ROOT).topics
    assert found == {None: 98, 32: 46}


def test_place_quartets_count_with_those_of_open_books():
    """Each open book is read thrice, in each language, with sixteen answers; fewer topics have no more."""
    tiny = read_models([TINY], ROOT)

    def counted(books):
        quartets = tiny.settings.carb.quartets.model_copy(update={"open_books": books})
        carb = tiny.settings.carb.model_copy(update={"quartets": quartets})
        settings = tiny.settings.model_copy(update={"carb": carb})
        return Counts(dataclasses.replace(tiny, settings=settings), ROOT)

    more = counted(10).quartets - counted(0).quartets
    languages = len(quartet_choices(tiny.settings)["languages"])
    assert more == 30 * languages
    assert counted(10**6).quartets < 10**6
    for itemset, answers in (("quartets", 16), ("unplaced_quartets", 4)):
        job = made_up("score_long", rule="quartet_scores", itemset=itemset)
        assert counted(10).work(job).reads - counted(0).work(job).reads == pytest.approx(more * answers * 90)


def test_a_job_that_a_cluster_would_end_is_named(paper):
    known = hours(paper, speeds=checked(paper, (["carb_scores"], "m", {"tokens_per_s": 1.0})))
    (line,) = too_long([made_up("score", rule="carb_scores")], known)
    assert line.startswith("carb_scores: a job takes about ") and "a cluster ends it after 2; raise" in line
    assert too_long([made_up("score", rule="carb_scores")], hours(paper)) == []  # nothing measured it


def test_models_of_70_billion_parameters_fit_the_cards_that_their_entries_ask_for(jobs):
    assert too_large(jobs, 79) == []
    (line,) = [line for line in too_large(jobs, 24) if "infly/INF-ORM-Llama3.1-70B" in line]
    assert re.match(
        r".*ready_made_scores.*: .* needs \d+ GiB for its weights on each of 4 GPUs, of 24; ", line
    )


def test_disk_counts_what_is_fetched_and_every_trained_model(jobs, paper):
    found = disk_gib(jobs, paper)
    rewarding, judges = (3.21 + 3.09 + 7.62) * 5, 7.62 * (5 * 8 + 4) + 3.09 * 17
    warmups = sum(job.rule in ("locals_warmup", "sft_policy") for job in jobs) * 7.62
    assert found["trained"] == pytest.approx((rewarding + judges + warmups) * 4e9 / 1024**3, rel=0.01)
    assert 785 < found["from the hub or packages"] < 795


def test_a_disk_that_is_too_small_is_named_with_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 * 1024**3))
    assert missing_disk(99, tmp_path / "results") == []
    (line,) = missing_disk(101, tmp_path / "results")
    assert line.startswith("The models take 101 GiB of disk") and "has 100 free" in line


def test_missing_keys_are_named_with_what_wants_them(jobs, paper):
    token, key = missing_keys(jobs, paper, {})
    assert token.startswith(
        "HF_TOKEN is not set, and is needed for gemma-3-27b-it, gemma-3-4b-it, llama-3.1-70b-instruct, "
    )
    assert key.startswith(
        "OPENAI_API_KEY is not set, and holds the key for gpt-4-turbo-2024-04-09, gpt-4.1-2025-04-14, gpt-4o"
    )
    assert missing_keys(jobs, paper, {"HF_TOKEN": "x", "OPENAI_API_KEY": "y"}) == []


def test_what_a_judge_on_a_server_is_asked_is_counted_before_it_costs(tmp_path, monkeypatch):
    """26 templates of each of four sections, with two wrong answers each, in both orders, in five languages."""
    (tmp_path / "judge.yaml").write_text(
        "reward_models:\n  my-judge:\n    {kind: generative, verdict: text, server: {url: 'http://localhost:1/v1',"
        " model: my-model, api_key_variable: UNSET_KEY}}\n"
    )
    overlays = [TINY, str(tmp_path / "judge.yaml")]
    jobs = planned_jobs(["results/tiny/table2.csv"], overlays, ROOT)
    models = read_models(overlays, ROOT)
    (row,) = asked_of_servers(jobs, Counts(models, ROOT)).to_dict("records")
    assert (row["judge"], row["requests"]) == ("my-model", 26 * 4 * 2 * 2 * 5)
    assert (row["read (M)"], row["written (M)"]) == (2080 * 900 / 1e6, 2080 * 512 / 1e6)
    (line,) = unset_keys(jobs, {})
    assert line.startswith("UNSET_KEY is not set, and holds the key for my-model. Set it: export UNSET_KEY=")
    assert unset_keys(jobs, {"UNSET_KEY": "x"}) == []


def test_the_plan_says_first_what_does_not_fit_and_how_each_number_came_about(monkeypatch):
    monkeypatch.setattr(planning, "known_seconds", lambda folder: {"reward_model": [1800.0]})
    text = plan_text(["results/tiny/table1.csv"], [TINY], ROOT)
    parts = ["# Scale results/tiny: ", "Jobs whose rules ran: 10. They take about 5 h one after another", "Jobs with models that nothing measured", "**Hours** are measured", "**Tokens** are counted", "## What does not fit", "## Keys", "## Judges on servers", "None is asked", "## Jobs", "| reward_model ", "## Disk"]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and "nan" not in text


def test_the_time_of_table_1_is_the_reference_run_s_as_in_the_readme():
    """Half of the jobs' time is what README.md gives for two cores, by docs/data/mini/times.csv."""
    times = pd.read_csv(ROOT / "docs/data/mini/times.csv").set_index("artifact").loc["table1.csv"]
    text = plan_text(["results/table1.csv"], [], ROOT)
    (took,) = re.findall(r"They take about (\d+) min one after another", text)
    assert float(took) == pytest.approx(times["job_seconds"] / 60, rel=0.25)
    assert times["two_cores_s"] == pytest.approx(times["job_seconds"] / 2, abs=1)  # both are rounded
    for page in ("config.yaml", "README.md", "docs/first_table.md"):
        said = (ROOT / page).read_text(encoding="utf-8")
        marked = re.sub(r"<!-- value mini/times.csv.*?<!-- end -->", "", said)
        assert not re.search(r"Table 1 in|takes\s+about \d+ min", marked), page


def test_a_scale_that_does_not_resolve_is_an_error():
    with pytest.raises(PolyrewardError, match="nowhere.csv"):
        planned_jobs(["nowhere.csv"], [TINY], ROOT)
    with pytest.raises(PolyrewardError) as error:
        planned_jobs(["results/tiny/tabel4.csv"], [TINY], ROOT)
    assert str(error.value).startswith(
        "results/tiny/tabel4.csv: no such result; did you mean results/tiny/table4.csv? "
    )
    with pytest.raises(PolyrewardError, match="nowhere.yaml: no such file"):
        plan_text(["all"], ["nowhere.yaml"], ROOT)
