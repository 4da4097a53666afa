"""The plan of a scale: known numbers of a made-up one, and that the real ones can be estimated."""

import dataclasses
import json
import math
import re
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError
from polyreward.ops.planning import report
from polyreward.ops.planning.estimate import (
    disk_gib,
    dollars,
    gpu_hours,
    lacking_disk,
    missing_keys,
    too_large,
)
from polyreward.ops.planning.report import by_rule, plan_text, tokens
from polyreward.ops.planning.rules import originals
from polyreward.ops.planning.sized_scale import Size, measured, of_card, read_scale
from polyreward.ops.planning.work import WORK_COLUMNS, work

PAPER = "workflow/scales/paper.yaml"


@pytest.fixture(scope="module")
def paper():
    return read_scale([PAPER], ROOT)


@pytest.fixture(scope="module")
def table(paper):
    return work(paper)


def of(table, rule, model):
    (row,) = table[(table["rule"] == rule) & (table["model"] == model)].to_dict("records")
    return row


def test_the_train_set_is_read_once_in_each_language_by_each_base(paper, table):
    english = 2 * 86_000 * 500
    row = of(table, "reward_model", "qwen2.5-3b-instruct")
    assert row["kind"] == "train"
    assert row["read_tokens"] == pytest.approx(english * (1 + 4 * 1.4))


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


def test_policies_that_scores_reward_are_counted_by_reward_model(paper, table):
    grpo = paper.config["carb"]["grpo"]
    replies, tokens = 200 * 16 * 4, 40 + 256 * 0.5
    named = set(grpo["reward_models"])
    rows = table[table["rule"] == "grpo_policy"]
    assert len(named) == 17 and set(rows["kind"]) == {"vllm", "train", "score"}
    trained = rows[rows["kind"] == "train"].iloc[0]
    assert trained["model"] == "qwen2.5-3b-instruct" and trained["read_tokens"] == pytest.approx(
        17 * replies * tokens
    )
    scored = rows[rows["kind"] == "score"].set_index("model")["read_tokens"]
    assert scored["llama-3.2-3b-instruct"] == pytest.approx(5 * replies * tokens)
    assert scored["ArmoRM-Llama3-8B-v0.1"] == pytest.approx(replies * tokens)
    answers = of(table, "grpo_answers", "qwen2.5-3b-instruct")
    assert answers["written_tokens"] == pytest.approx(18 * 1_800 * 256 * 0.5)
    without = work(
        dataclasses.replace(paper, config={**paper.config, "carb": {**paper.config["carb"], "grpo": None}})
    )
    assert not {"grpo_policy", "grpo_answers"} & set(without["rule"])


def test_a_reward_model_that_does_not_fit_beside_a_policy_and_vllm_is_named(paper):
    carb = paper.config["carb"]
    large = {**carb["grpo"], "reward_models": [*carb["grpo"]["reward_models"], "Skywork-Reward-Gemma-2-27B"]}
    lines = too_large(
        work(paper), dataclasses.replace(paper, config={**paper.config, "carb": {**carb, "grpo": large}})
    )
    assert [line for line in lines if "carb.grpo.vllm_gpu_share" in line]
    assert not [line for line in too_large(work(paper), paper) if "carb.grpo" in line]


def test_gpu_hours_are_tokens_by_size_over_speed(paper, table):
    hours = table.assign(hours=gpu_hours(table, paper))
    row = of(hours, "reward_model", "qwen2.5-7b-instruct")
    assert row["hours"] == pytest.approx(row["read_tokens"] * 7.62 / 13_600 / 3600)
    row = of(hours, "sampled_responses", "qwen2.5-7b-instruct")
    assert row["hours"] == pytest.approx(
        (row["read_tokens"] / 62_000 + row["written_tokens"] / 10_000) * 7.62 / 3600
    )
    assert of(hours, "judgements", "gpt-4o-alpacaeval")["hours"] == 0


def test_what_a_gpu_was_measured_at_is_reckoned_with_and_a_cpu_is_not(paper, tmp_path):
    path, speed = tmp_path / "gpu_check.json", {"value": 20_000.0, "source": "polyreward gpu-check"}
    assert measured(paper.facts, path) == paper.facts
    path.write_text(json.dumps({"gpu": None, "tokens_per_s": {"train": speed}}))
    assert measured(paper.facts, path) == paper.facts
    gpu = {"name": "a card", "count": 2, "memory_gib": 24.0}
    path.write_text(json.dumps({"gpu": gpu, "tokens_per_s": {"train": speed}}))
    found = measured(paper.facts, path)
    assert found["gpu"] == gpu and found["tokens_per_s"] == {**paper.facts["tokens_per_s"], "train": speed}


def test_figure_3_s_judge_reads_each_answer_and_its_reference_once(table):
    row = of(table, "judgements", "gpt-4o-alpacaeval")
    answers = 3 * 5 * 805 * 4  # policies, runs, instructions, languages
    assert row["read_tokens"] == pytest.approx(answers * 2 * (60 + 512))
    assert row["written_tokens"] == 0  # its labels' probabilities are read


def test_money_is_tokens_by_price_and_unknown_where_there_is_none(paper, table):
    asked = dollars(table, paper).set_index("model")
    row = asked.loc["gpt-4o-2024-08-06"]
    assert row["usd"] == pytest.approx((2.5 * row["read_tokens"] + 10 * row["written_tokens"]) / 1e6)
    assert math.isnan(asked.loc["deepseek-ai/DeepSeek-V3-0324", "usd"])
    assert "gpt-4-turbo-2024-04-09" in asked.index


def on_one_card(scale):
    """Return a scale whose reward models are spread over no cards."""
    entries = {name: {key: value for key, value in one.items() if key != "gpus"}
               for name, one in scale.catalogs["reward_models"].items()}  # fmt: skip
    return dataclasses.replace(scale, catalogs={**scale.catalogs, "reward_models": entries})


def test_models_of_70_billion_parameters_fit_the_cards_that_their_entries_ask_for(paper, table):
    assert too_large(table, paper) == []
    smaller = {**paper.facts, "gpu": {**paper.facts["gpu"], "memory_gib": 24}}
    lines = too_large(table, dataclasses.replace(paper, facts=smaller))
    assert any(
        line.startswith("INF-ORM-Llama3.1-70B needs 33 GiB on each of 4 GPUs (bfloat16)") for line in lines
    )


def test_a_benchmark_that_comes_in_all_languages_is_not_translated(paper, table):
    benchmarks = {**paper.config["benchmarks"], "main": "multilingual-rewardbench"}
    sizes = {**paper.sizes, "multilingual-rewardbench": paper.sizes["rewardbench"]}
    released = dataclasses.replace(paper, config={**paper.config, "benchmarks": benchmarks}, sizes=sizes)
    less = of(table, "translated_rows", "x-alma-13b-group2")["read_tokens"] - of(
        work(released), "translated_rows", "x-alma-13b-group2"
    )["read_tokens"]  # fmt: skip
    assert less == pytest.approx(
        2 * 2 * 2985 * 400
    )  # two languages; a prompt and two answers are about two conversations


def test_the_five_sources_give_as_many_training_pairs_as_were_released(paper):
    rebuilt = read_scale([PAPER, "workflow/scales/paper_sources.yaml"], ROOT).train_pairs()
    assert rebuilt.rows == pytest.approx(paper.train_pairs().rows, rel=0.01)


def test_a_model_that_does_not_fit_is_named_once_with_its_rules(paper, table):
    lines = too_large(table, on_one_card(paper))
    assert [line.split(" needs ")[0] for line in lines] == [
        "Self-taught-evaluator-llama3.1-70B",
        "INF-ORM-Llama3.1-70B",
    ]
    assert (
        "needs 132 GiB on one GPU (bfloat16), where NVIDIA A100 80GB has 68 beside activations:"
        " catalogued_reward" in lines[0]
    )


@pytest.mark.parametrize(("precision", "gib"), [("float32", 48), ("bfloat16", None), ("auto", None)])
def test_precision_decides_what_a_model_takes_that_has_no_type_of_its_own(paper, table, precision, gib):
    scale = dataclasses.replace(paper, config={**paper.config, "precision": precision})
    smaller = {**scale.facts, "gpu": {**scale.facts["gpu"], "memory_gib": 40.0}}
    lines = [line for line in too_large(table, dataclasses.replace(scale, facts=smaller)) if "x-alma" in line]
    assert [re.match(r".* needs (\d+) GiB on one GPU \((\w+)\)", line).groups() for line in lines] == (
        [(str(gib), precision)] * 2 if gib else []
    )


def test_what_does_not_fit_is_said_before_all_that_it_costs(paper, monkeypatch):
    jobs = pd.DataFrame({"rule": ["reward_model", "table1"], "jobs": [15, 1]})
    monkeypatch.setattr(report, "jobs_per_rule", lambda *asked: jobs)
    text = plan_text(on_one_card(paper), ["all"], [PAPER], ROOT)
    assert text.startswith("# Scale results/paper: 16 jobs, ")
    places = [
        text.index(part)
        for part in ("INF-ORM-Llama3.1-70B needs 132 GiB", "## Keys", "## Jobs", "## Tokens", "## Disk")
    ]
    assert places == sorted(places)


def test_rewrites_and_the_same_answers_in_all_languages_are_read_by_every_reward_model(paper, table):
    texts = paper.carb_items * (5 + 10)
    assert of(table, "carb_perturbed_scores", "qwen2.5-3b-instruct")["read_tokens"] == pytest.approx(
        texts * 80 * 5
    )
    assert of(table, "carb_perturbed_scores", "INF-ORM-Llama3.1-70B")["read_tokens"] == pytest.approx(
        texts * 80
    )
    pairs = paper.carb_items * (4 + 9)
    assert of(table, "carb_perturbed_scores", "gpt-4o")["read_tokens"] == pytest.approx(pairs * 2 * 2 * 80)


def test_three_judges_of_think_as_locals_read_the_rewrites_and_one_writes_criteria(paper, table):
    row = of(table, "locals_perturbed_scores", "qwen2.5-7b-instruct")
    compared = (
        round(paper.carb_items * 3 / 10) * 4 * 2
    )  # of three cultures of ten; four rewrites, both orders
    assert row["read_tokens"] == pytest.approx(3 * compared * 4 * 40)
    assert row["written_tokens"] == pytest.approx(compared * 1024 / 2)


def test_a_judge_beside_ours_is_asked_once_about_every_two_answers(paper, table):
    row = of(table, "locals_scores", "RM-R1-Qwen2.5-Instruct-7B")
    rows, pairs = (
        2985 * 5,
        3 * round(paper.carb_items * 3 / 10),
    )  # of three cultures of ten; an item is a knock-out of four
    assert row["kind"] == "generate"
    assert row["written_tokens"] == pytest.approx((rows + pairs) * 4096 / 2)
    assert row["read_tokens"] == pytest.approx(2 * (rows * paper.benchmarks()[0].tokens + pairs * 80))


def test_training_32_billion_parameters_does_not_fit_four_gpus():
    scale = read_scale([PAPER, "workflow/scales/paper_locals_32b.yaml"], ROOT)
    (line,) = [line for line in too_large(work(scale), scale) if "on each of 4 GPUs" in line]
    assert line.startswith("qwen2.5-32b-instruct needs 122 GiB on each of 4 GPUs (train_full)")


def test_disk_counts_every_trained_model(paper):
    parameters = (3.21 + 3.09 + 7.62) * 5e9
    assert disk_gib(paper)["trained reward models"] == pytest.approx(parameters * 4 / 1024**3)


def test_a_disk_that_is_too_small_is_named_with_what_it_lacks(paper, tmp_path, monkeypatch):
    free = {}
    monkeypatch.setattr(
        shutil, "disk_usage", lambda folder: SimpleNamespace(**free) if folder == tmp_path else None
    )
    needed = sum(disk_gib(paper).values())
    free["free"] = (needed + 0.1) * 1024**3
    assert lacking_disk(paper, tmp_path) == []
    free["free"] = (needed - 0.1) * 1024**3
    (line,) = lacking_disk(paper, tmp_path)
    assert line.startswith(f"The scale takes {needed:,.0f} GiB of disk, and that of results/paper has ")


def test_what_is_served_is_reckoned_at_vllm_s_speed_and_nothing_else_changes(paper, table):
    served = read_scale([PAPER, "workflow/scales/paper_vllm.yaml"], ROOT)
    found = work(served)
    changed = found["kind"] != table["kind"]
    assert set(zip(table["kind"][changed], found["kind"][changed], strict=True)) == {("generate", "vllm")}
    rules = {"translated_rows", "sampled_responses", "policy_answers", "carb_completions", "carb_scores"}
    assert rules | {"catalogued_reward_scores"} <= set(found["rule"][changed])
    assert not {"candidates", "locals_perturbed_scores", "locals_grpo"} & set(found["rule"][changed])
    assert found["model"][changed & (found["rule"] == "locals_scores")].tolist() == [
        "RM-R1-Qwen2.5-Instruct-7B"
    ]
    assert of(found, "judgements", "gpt-4o-alpacaeval")["kind"] == "server"
    assert found.drop(columns="kind").equals(table.drop(columns="kind"))
    hours = [gpu_hours(each, scale).sum() for each, scale in ((found, served), (table, paper))]
    assert hours[0] < hours[1]


def test_a_seed_more_trains_and_scores_everything_twice(paper, tmp_path):
    (tmp_path / "seeds.yaml").write_text("reward_model_seeds: [1, 2]\n")
    twice = work(read_scale([PAPER, str(tmp_path / "seeds.yaml")], ROOT))
    for rule, least in (("reward_model", 2), ("reward_scores", 1.9), ("cross_reward_scores", 2)):
        once = of(work(paper), rule, "qwen2.5-3b-instruct")["read_tokens"]
        assert least * once <= of(twice, rule, "qwen2.5-3b-instruct")["read_tokens"] <= 2 * once


def test_jobs_stand_beside_the_work_that_they_share_and_none_is_lost(paper, table):
    jobs = {"reward_scores": 2, "source_reward_scores": 3, "cross_reward_scores_1": 4, "cross_reward_scores_2": 5,
            "candidate_judge_scores": 6, "reward_model": 10, "table1": 1}  # fmt: skip
    jobs = pd.DataFrame(jobs.items(), columns=["rule", "jobs"])
    rules = by_rule(table.assign(gpu_hours=gpu_hours(table, paper)), jobs, originals(ROOT)).set_index("rule")
    assert rules.loc["reward_scores", "jobs"] == 5
    assert rules.loc["cross_reward_scores", "jobs"] == 9
    assert rules.loc["candidate_scores", "jobs"] == 6
    assert rules.loc["reward_model", "jobs"] == 10
    assert rules.loc["all others", "jobs"] == 1
    assert rules["jobs"].sum() == 31
    assert list(rules["GPU hours"][:-1]) == sorted(rules["GPU hours"][:-1], reverse=True)


def test_tokens_are_counted_once(table):
    found = tokens(table).set_index("tokens")["millions"]
    assert found.sum() == pytest.approx((table["read_tokens"] + table["written_tokens"]).sum() / 1e6)


@pytest.mark.parametrize("overlays", [[], ["workflow/scales/tiny.yaml"]], ids=["mini", "tiny"])
def test_scales_of_local_data_are_estimated_from_their_files(overlays):
    scale = read_scale(overlays, ROOT)
    assert scale.sizes["mini-eval"].rows == 1312
    assert scale.benchmarks()[0].rows == 4 * (26 if overlays else 32)
    assert 10 < scale.sizes["mini-eval"].tokens < 200
    assert (work(scale)["read_tokens"] > 0).all()
    assert gpu_hours(work(scale), scale).isna().any() == bool(
        overlays
    )  # tiny's models have no parameters_b in the catalog


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
    scale = dataclasses.replace(paper, config={**paper.config, **drawn}, sizes=sizes)
    assert scale.benchmarks()[0] == Size(rows, 60, templates)


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
    changed = {**paper.config["reward_model"], "gradient_checkpointing": checkpointing, "lora": lora}
    models = {**paper.catalogs["models"], "m": {"parameters_b": 2.0, "layers": 28}}
    scale = dataclasses.replace(
        paper, config={**paper.config, "reward_model": changed}, catalogs={**paper.catalogs, "models": models}
    )
    table = pd.DataFrame([("reward_model", "m", "train", 1e9, 0.0)], columns=WORK_COLUMNS)
    full = 1e9 * 2 / paper.facts["tokens_per_s"]["train"]["value"] / 3600
    assert gpu_hours(table, scale)[0] == pytest.approx(full * eighths / 8)


@pytest.mark.parametrize(
    ("base", "share", "parallel", "problems"),
    [
        ("qwen2.5-7b-instruct", 0.3, 1, []),
        (
            "qwen2.5-7b-instruct",
            0.2,
            1,
            ["vLLM's copy takes 14 GiB of each GPU, and .*vllm_gpu_share gives it 16"],
        ),
        ("qwen2.5-14b-instruct", 0.15, 4, []),
        ("qwen2.5-14b-instruct", 0.3, 1, ["copy takes 28 GiB .* gives it 24"]),
        ("qwen2.5-14b-instruct", 0.4, 4, ["training takes 55 GiB of each GPU and vLLM 32"]),
        ("qwen2.5-32b-instruct", 0.25, 4, ["training takes 122 GiB of each GPU and vLLM 20"]),
    ],
)
def test_vllm_fits_beside_grpo_or_the_plan_refuses_it(paper, base, share, parallel, problems):
    grpo = {
        **paper.config["think_as_locals"]["grpo"],
        "vllm_gpu_share": share,
        "vllm_tensor_parallel": parallel,
    }
    judge = {**paper.config["think_as_locals"], "base": base, "grpo": grpo}
    scale = dataclasses.replace(paper, config={**paper.config, "think_as_locals": judge})
    lines = [line for line in too_large(work(scale), scale) if "vLLM" in line]
    assert len(lines) == len(problems)
    assert all(re.search(problem, line) for problem, line in zip(problems, lines, strict=True))


def test_a_card_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(PolyrewardError, match="devices.card: `h9` is not in .*; name one of a100"):
        of_card({"cards": {"a100": {}}}, "h9")


def test_max_pairs_hold_for_a_source(paper):
    config = {**paper.config, "pool": {"datasets": ["a", "b"], "dev_share": 0.5, "max_pairs": {"a": 10}}}
    scale = type(paper)(config, paper.catalogs, {"a": Size(100, 30), "b": Size(10, 10)}, paper.facts, 1, 1, 1)
    assert scale.train_pairs() == Size(10, 20)


def test_an_overlay_that_is_not_there_is_named():
    with pytest.raises(PolyrewardError, match="nowhere.yaml: no such file; name an overlay on config.yaml"):
        read_scale(["nowhere.yaml"], ROOT)


def test_every_number_that_is_reckoned_with_has_a_source():
    facts = yaml.safe_load((ROOT / "workflow/catalog/throughputs.yaml").read_text(encoding="utf-8"))
    for card in facts["cards"].values():
        assert card["gpu_source"] and card["tokens_per_s"].keys() == {"train", "score", "generate", "vllm"}
        assert all(entry["source"] and entry["value"] > 0 for entry in card["tokens_per_s"].values())
    assert all(price["source"] for price in facts["prices"].values())


def test_missing_keys_are_told_with_what_wants_them(paper):
    token, key = missing_keys(paper, {})
    assert token.startswith("HF_TOKEN is not set, and llama-3.2-3b-instruct, omgeval are gated")
    assert key.startswith(
        "OPENAI_API_KEY is not set, and the server of gpt-4o, gpt-4.1-2025-04-14, gpt-4o-alpacaeval,"
        " gpt-4-turbo wants it"
    )
    assert missing_keys(paper, {"HF_TOKEN": "x", "OPENAI_API_KEY": "y"}) == []
