"""The plan of a scale: what jobs read and write, and what that takes."""

import dataclasses
import json
import math
import re
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from settings_data import settings_with
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops.planning.report import (
    by_rule,
    disk_gib,
    dollars,
    missing_disk,
    missing_keys,
    plan_text,
    too_large,
)
from polyreward.ops.planning.sized_scale import Size, measured, of_card, read_scale
from polyreward.ops.planning.work import Job, Sizes, job_work, planned_jobs, work_table
from polyreward.ops.resources import ModelJob

PAPER = "workflow/scales/paper.yaml"


@pytest.fixture(scope="module")
def paper():
    return read_scale([PAPER], ROOT)


@pytest.fixture(scope="module")
def jobs():
    return planned_jobs(["all"], [PAPER], ROOT)


@pytest.fixture(scope="module")
def table(jobs, paper):
    return work_table(jobs, paper)


def of(table, rule, model, kind=None):
    found = (table["rule"] == rule) & (table["model"] == model) & ((table["kind"] == kind) | (kind is None))
    (row,) = table[found].to_dict("records")
    return row


def made_up(kind, entry, params, inputs=("work/3_translated/train/en.jsonl",), training=None, rule="made_up"):
    model = ModelJob(kind, lambda wildcards: [entry], training, {}, "bfloat16", 1, False)
    return Job(rule, {}, inputs, [], params, None, model, 0)


# What jobs read and write


def test_every_job_that_computes_with_a_model_has_work(jobs, paper):
    sizes = Sizes(paper)
    computing = [job for job in jobs if job.held and job.model.kind != "load"]
    assert len(computing) > 200
    assert [job.rule for job in computing if not all(work.read for work in job_work(job, sizes))] == []


def test_the_train_set_is_read_once_in_each_language_by_each_base(table, paper):
    row = of(table, "reward_model", "qwen2.5-7b-instruct")
    assert row["kind"] == "train"
    assert row["read"] == pytest.approx(2 * 86_000 * 500 * (1 + 4 * 1.4))
    assert row["hours"] == pytest.approx(row["read"] * 7.62 / 13_600 / 3600)


def test_hours_are_tokens_by_size_over_the_speeds_of_reading_and_of_writing(table):
    row = of(table, "sampled_responses", "qwen2.5-7b-instruct")
    assert row["written"] == pytest.approx(4 * 10_000 * 4 * 1024 / 2)
    assert row["hours"] == pytest.approx((row["read"] / 62_000 + row["written"] / 10_000) * 7.62 / 3600)


def test_a_judge_is_asked_about_each_answer_or_once_about_two(table, paper):
    row = of(table, "judgements", "gpt-4o-2024-08-06")
    answers = 3 * 5 * 805 * 4  # policies, runs, instructions, languages
    assert row["read"] == pytest.approx(answers * 2 * (60 + 512))
    assert row["written"] == row["hours"] == 0  # its labels' probabilities are read, by a server
    row = of(table, "locals_scores", "gaotang/RM-R1-Qwen2.5-Instruct-7B")
    rows, pairs = 2985 * 5, 3 * paper.carb_items * 3 / 10  # of three cultures of ten
    assert row["written"] == pytest.approx((rows + pairs) * 4096 / 2, rel=0.001)


def test_rewrites_and_the_same_answers_in_all_languages_are_read_by_every_reward_model(table, paper):
    read = of(table, "carb_perturbed_scores", "infly/INF-ORM-Llama3.1-70B")["read"]
    assert read == pytest.approx(paper.carb_items * (5 + 10) * 80)
    read = of(table, "carb_perturbed_scores", "gpt-4o-2024-08-06")["read"]
    assert read == pytest.approx(paper.carb_items * (4 + 9) * 2 * 2 * 80)


def test_policies_that_scores_reward_are_counted_by_reward_model(table):
    replies, each = 200 * 16 * 4, 40 + 256 / 2
    rows = table[table["rule"] == "grpo_policy"]
    assert set(rows["kind"]) == {"vllm", "train", "score"}
    trained = rows[rows["kind"] == "train"].iloc[0]
    assert trained["model"] == "qwen2.5-3b-instruct"
    assert trained["read"] == pytest.approx(17 * replies * each)
    assert of(rows, "grpo_policy", "llama-3.2-3b-instruct")["read"] == pytest.approx(5 * replies * each)
    assert of(table, "grpo_answers", "qwen2.5-3b-instruct")["written"] == pytest.approx(
        17 * 1_800 * 128, rel=0.001
    )


def test_judges_that_say_their_verdict_at_once_write_nothing(table, paper):
    row = of(table, "locals_perturbed_scores", "qwen2.5-7b-instruct")
    compared = paper.carb_items * 3 / 10 * 4 * 2  # four rewrites, both orders
    assert row["read"] == pytest.approx(3 * compared * 2 * 80, rel=0.001)
    assert row["written"] == pytest.approx(compared * 1024 / 2, rel=0.001)  # one of three writes criteria


def training(**changed):
    return SimpleNamespace(**{"epochs": 2, "gradient_checkpointing": True, "lora": None, **changed})


@pytest.mark.parametrize(
    ("checkpointing", "lora", "eighths"),
    [
        (True, None, 8),
        (False, None, 6),
        (False, {"top_layers": 28}, 4),
        (True, {"top_layers": 28}, 6),
        (False, {"top_layers": 7}, 2.5),
        (False, {"top_layers": 99}, 4),
    ],
)
def test_a_training_takes_less_without_recomputing_or_with_adapters(paper, checkpointing, lora, eighths):
    settings = training(gradient_checkpointing=checkpointing, lora=lora and SimpleNamespace(**lora))
    job = made_up("train", {"hub": "m", "parameters_b": 2.0, "layers": 28}, {}, training=settings)
    (work,) = job_work(job, Sizes(paper))
    full = 2 * 2 * 86_000 * 500 * 2 / paper.facts["tokens_per_s"]["train"]["value"] / 3600
    assert work.hours == pytest.approx(full * eighths / 8)


def test_sft_reads_chosen_answers_and_dpo_scores_its_reference_once(paper):
    entry, sizes = {"hub": "m", "parameters_b": 1}, Sizes(paper)
    (sft,) = job_work(made_up("supervise", entry, {}, training=training(rows=100)), sizes)
    assert sft.read == 100 * 500 * 2
    settings = training(beta=0.1)
    trained, scored = job_work(made_up("train", entry, {}, training=settings), sizes)
    assert (trained.kind, scored.kind) == ("train", "score")
    assert trained.read == 2 * scored.read


def test_hours_of_a_model_of_unknown_size_are_unknown(paper):
    (work,) = job_work(made_up("score", {"hub": "m", "kind": "classifier"}, {}), Sizes(paper))
    assert work.read > 0 and math.isnan(work.hours)


def test_what_is_served_is_reckoned_at_vllm_s_speed(paper):
    for serve, kind in ((None, "generate"), ({"port": 1}, "vllm")):
        (work,) = job_work(
            made_up(
                "generate",
                {"hub": "m"},
                {"sampling": {"settings": SimpleNamespace(max_new_tokens=100), "serve": serve}},
            ),
            Sizes(paper),
        )
        assert work.kind == kind
        (work,) = job_work(
            made_up(
                "score",
                {},
                {"entry": {"kind": "generative", "verdict": "text"} | ({"serve": 1} if serve else {})},
            ),
            Sizes(paper),
        )
        assert work.kind == kind


# The report


def test_no_job_and_no_token_is_lost(table, jobs, paper):
    rules = by_rule(table, jobs, paper.facts["gpu"], ROOT).set_index("rule")
    assert rules["jobs"].sum() == len(jobs)
    assert rules.loc["reward_model", "jobs"] == 15 and rules.loc["cross_reward_scores", "jobs"] == 3
    for column, name in [("hours", "GPU hours"), ("read", "read (M tokens)")]:
        assert rules[name].sum() == pytest.approx(table[column].sum() / (1e6 if column == "read" else 1))
    assert list(rules["GPU hours"]) == sorted(rules["GPU hours"], reverse=True)


def test_jobs_that_have_run_are_shown_with_their_measured_time(paper, tmp_path):
    (tmp_path / "a.tsv").write_text("s\tmax_rss\n7200\t-\n", encoding="utf-8")
    entry, params = {"hub": "m", "parameters_b": 1, "kind": "classifier"}, {}
    ran, not_run = (
        dataclasses.replace(made_up("score", entry, params), benchmark=name) for name in ("a.tsv", "b.tsv")
    )
    rules = by_rule(work_table([ran, not_run], paper), [ran, not_run], paper.facts["gpu"], tmp_path)
    assert rules[["jobs", "measured hours", "measured jobs"]].values.tolist() == [[2, 2.0, 1]]


def test_money_is_tokens_by_price_and_unknown_where_there_is_none(table, paper):
    asked = dollars(table, paper.facts["prices"]).set_index("model")
    row = asked.loc["gpt-4o-2024-08-06"]
    assert row["USD"] == pytest.approx(2.5 * row["read (M tokens)"] + 10 * row["written (M tokens)"])
    assert math.isnan(asked.loc["deepseek-ai/DeepSeek-V3-0324", "USD"])


def on(scale, **gpu):
    return dataclasses.replace(scale, facts={**scale.facts, "gpu": {**scale.facts["gpu"], **gpu}})


def test_models_of_70_billion_parameters_fit_the_cards_that_their_entries_ask_for(jobs, paper):
    assert too_large(jobs, paper) == []
    lines = too_large(jobs, on(paper, memory_gib=24))
    (line,) = [line for line in lines if line.startswith("infly/INF-ORM-Llama3.1-70B")]
    assert re.match(
        r".* needs \d+ GiB on each of 4 GPUs, where NVIDIA A100 80GB has 24: .*catalogued_reward_sco", line
    )


@pytest.mark.parametrize(
    ("billions", "share", "parallel", "problems"),
    [
        (7.62, 0.3, 1, []),
        (7.62, 0.2, 1, ["vLLM's copy takes 17 GiB of each GPU, and vllm_gpu_share gives it 16"]),
        (14.8, 0.15, 4, []),
        (14.8, 0.4, 4, ["training takes 6. GiB of each GPU and vLLM 32"]),
        (
            32.8,
            0.25,
            4,
            ["needs 13. GiB on each of 4 GPUs", "training takes 13. GiB of each GPU and vLLM 20"],
        ),
    ],
)
def test_vllm_fits_next_to_grpo_or_the_plan_refuses_it(paper, billions, share, parallel, problems):
    settings = training(vllm=True, vllm_gpu_share=share, vllm_tensor_parallel=parallel)
    job = made_up("grpo", {"hub": "m", "parameters_b": billions}, {}, training=settings)
    lines = too_large([job], paper)
    assert len(lines) == len(problems)
    assert all(re.search(problem, line) for problem, line in zip(problems, lines, strict=True)), lines


def test_disk_counts_what_is_fetched_and_every_trained_model(jobs, paper):
    found = disk_gib(jobs, paper)
    rewarding, judges = (3.21 + 3.09 + 7.62) * 5, 7.62 * (8 + 4) + 3.09 * 17
    warmups = sum(job.rule in ("locals_warmup", "sft_policy") for job in jobs) * 7.62
    assert found["trained models"] == pytest.approx((rewarding + judges + warmups) * 4e9 / 1024**3, rel=0.01)
    assert 430 < found["models from the hub or packages"] < 440


def test_a_disk_that_is_too_small_is_named_with_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 * 1024**3))
    assert missing_disk(99, tmp_path / "results") == []
    (line,) = missing_disk(101, tmp_path / "results")
    assert line.startswith("The scale takes 101 GiB of disk") and "has 100 free" in line


def test_missing_keys_are_named_with_what_wants_them(jobs, paper):
    token, key = missing_keys(jobs, paper, {})
    assert token.startswith("HF_TOKEN is not set, and llama-3.2-3b-instruct, omgeval want it (gated)")
    assert key.startswith("OPENAI_API_KEY is not set, and gpt-4-turbo-2024-04-09, gpt-4.1-2025-04-14, gpt-4o")
    assert missing_keys(jobs, paper, {"HF_TOKEN": "x", "OPENAI_API_KEY": "y"}) == []


def test_the_plan_says_first_what_does_not_fit_and_how_each_number_came_about():
    text = plan_text(["results/tiny/table1.csv"], ["workflow/scales/tiny.yaml"], ROOT)
    parts = ["# Scale results/tiny: ", "**Tokens** are", "The card is NVIDIA A100", "## What does not fit", "## Keys",
             "## Jobs", "| reward_model ", "## Disk", "No server is asked."]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_scale_that_does_not_resolve_is_an_error():
    with pytest.raises(PolyrewardError, match="nowhere.csv"):
        planned_jobs(["nowhere.csv"], ["workflow/scales/tiny.yaml"], ROOT)
    with pytest.raises(PolyrewardError, match="nowhere.yaml: no such file; name an overlay"):
        planned_jobs(["all"], ["nowhere.yaml"], ROOT)


# Sizes of data and facts of a card


def test_what_a_gpu_was_measured_at_is_reckoned_with_and_a_cpu_is_not(paper, tmp_path):
    path, speed = tmp_path / "gpu_check.json", {"value": 20_000.0, "source": "polyreward gpu-check"}
    assert measured(paper.facts, path) == paper.facts
    path.write_text(json.dumps({"gpu": None, "tokens_per_s": {"train": speed}}))
    assert measured(paper.facts, path) == paper.facts
    gpu = {"name": "a card", "count": 2, "memory_gib": 24.0}
    path.write_text(json.dumps({"gpu": gpu, "tokens_per_s": {"train": speed}}))
    found = measured(paper.facts, path)
    assert found["gpu"] == gpu and found["tokens_per_s"] == {**paper.facts["tokens_per_s"], "train": speed}


def test_items_of_the_user_s_own_are_counted(tmp_path):
    (tmp_path / "mine.jsonl").write_text("{}\n" * 900, encoding="utf-8")
    overlay = tmp_path / "mine.yaml"
    overlay.write_text(
        f"carb: {{item_files: [{tmp_path / 'mine.jsonl'}], cultures: [it, ko]}}\n", encoding="utf-8"
    )
    assert read_scale([PAPER, str(overlay)], ROOT).carb_items == 900
    assert read_scale([str(overlay)], ROOT).carb_items == 2 * 4 * 6  # items_per_cell


def test_questions_are_those_of_all_sets_and_of_carb_s_cultures(paper, tmp_path):
    assert paper.carb_questions.rows == (8 + 5 + 5) * 100
    own = [
        {"id": f"{n}", "language": ("es", "xx")[n % 2], "prompt": "?", "accepted": ["!"]} for n in range(10)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")
    overlay = tmp_path / "questions.yaml"
    named = f"[resources/carb/questions.yaml, blend, {tmp_path / 'own.jsonl'}]"
    overlay.write_text(
        f"carb: {{questions: {named}, questions_per_culture: 6, cultures: [es, ko, de, ja]}}\n",
        encoding="utf-8",
    )
    found = read_scale([str(overlay)], ROOT).carb_questions
    assert found.rows == 4 * 6 + 2 * 6 + 5  # German and Japanese are not in BLEnD
    assert found.tokens == pytest.approx((24 * 40 + 12 * 30 * 1.4 + 5 * 40) / 41)


def test_the_five_sources_give_as_many_training_pairs_as_were_released(paper):
    rebuilt = read_scale([PAPER, "workflow/scales/paper_sources.yaml"], ROOT).train_pairs()
    assert rebuilt.rows == pytest.approx(paper.train_pairs().rows, rel=0.01)


@pytest.mark.parametrize(
    ("per_section", "fills", "rows", "templates"),
    [(None, None, 656, 328), (None, 1, 328, 328), (40, 1, 160, 160), (40, None, 320, 160)],
)
def test_templates_and_their_fills_are_drawn(paper, per_section, fills, rows, templates):
    drawn = {
        "templates_per_section": {"main": per_section}, "fills_per_template": fills,
        "benchmarks": {"main": "mini-rewardbench", "twins": "mini-twins"},
    }  # fmt: skip
    sizes = {**paper.sizes, "mini-eval": Size(656, 60, 328)}
    scale = dataclasses.replace(paper, settings=settings_with(drawn), sizes=sizes)
    assert scale.benchmarks()[0] == Size(rows, 60, templates)


def test_a_card_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(PolyrewardError, match="devices.card: `h9` is not in .*; name one of a100"):
        of_card({"cards": {"a100": {}}}, "h9")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_benchmark_of_the_user_s_own_is_sized_in_any_format_and_layout(tmp_path, kind):
    rows = pd.DataFrame([{"input": "a" * 8, "output_1": "b" * 8, "output_2": "c" * 8, "label": 1}] * 3)
    getattr(rows, f"to_{kind}")(tmp_path / f"own.{kind}", index=False)
    own = {"own": {"path": str(tmp_path / f"own.{kind}"), "language": "es", "layout": "llmbar"}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({"own_benchmarks": own}))
    assert read_scale([str(tmp_path / "own.yaml")], ROOT).sizes["own"] == Size(3, 4)


def test_max_pairs_hold_for_a_source(paper):
    pool = {"datasets": ["a", "b"], "dev_share": 0.5, "max_pairs": {"a": 10}}
    settings = settings_with(
        {"pool": pool, "templates_per_section": {"pool": None}, "fills_per_template": None}
    )
    scale = dataclasses.replace(paper, settings=settings, sizes={"a": Size(100, 30), "b": Size(10, 10)})
    assert scale.train_pairs() == Size(10, 20)


def test_every_number_that_is_reckoned_with_has_a_source():
    facts = yaml.safe_load((ROOT / "workflow/catalog/throughputs.yaml").read_text(encoding="utf-8"))
    for card in facts["cards"].values():
        assert card["gpu_source"] and card["tokens_per_s"].keys() == {"train", "score", "generate", "vllm"}
        assert all(entry["source"] and entry["value"] > 0 for entry in card["tokens_per_s"].values())
    assert all(price["source"] for price in facts["prices"].values())
