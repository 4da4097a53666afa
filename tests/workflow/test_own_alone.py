"""A benchmark of the user's own waits for no other benchmark, and with `bases: []` for no training."""

import pytest
from support import ROOT, jobs_of, snakemake

FILE = ROOT / "resources/example/best_of_four.jsonl"


def settings(folder, bases, language="pt"):
    text = f"""
{bases}
reward_models: {{mine: {{kind: implicit, model: tiny-gemma}}}}
own_benchmarks: {{best: {{path: {FILE}, language: {language}}}}}
"""
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return ["--configfile", "workflow/scales/tiny.yaml", str(folder / "mine.yaml")]


def test_with_no_base_it_is_prepared_and_scored_and_nothing_else(tmp_path):
    ran = snakemake("-n", "--cores", "1", "results/tiny/benchmark_best.csv", *settings(tmp_path, "bases: []"))
    jobs = {rule: count for rule, count in jobs_of(ran).items() if rule not in ("total", "random_base_model")}
    scored = {"own_benchmark": 1, "own_configured_reward_scores": 1, "own_benchmark_table": 1}
    assert scored.items() <= jobs.items(), ran.stdout
    assert not {"reward_model", "configured_reward_scores", "evaluation_set"} & jobs.keys()


def test_with_bases_every_trained_reward_model_scores_it_in_any_language_of_cldr(tmp_path):
    ran = snakemake("-n", "--cores", "1", "results/tiny/benchmark_best.csv", *settings(tmp_path, ""))
    jobs = jobs_of(ran)
    assert (jobs["own_reward_scores"], jobs["own_configured_reward_scores"]) == (10, 1), ran.stdout
    assert "configured_reward_scores" not in jobs


def test_a_language_that_cldr_has_not_is_named(tmp_path):
    ran = snakemake(
        "-n", "--cores", "1", "results/tiny/benchmark_best.csv", *settings(tmp_path, "bases: []", "xq")
    )
    assert ran.returncode != 0
    assert "`xq` is no language of CLDR; give its ISO 639 code, such as pt" in ran.stdout


@pytest.mark.parametrize("target", ["table1.csv", "figure1.png"])
def test_what_needs_trained_reward_models_says_so_before_the_first_job(tmp_path, target):
    ran = snakemake("--cores", "1", f"results/tiny/{target}", *settings(tmp_path, "bases: []"))
    assert ran.returncode != 0
    assert "bases: [] trains no reward model" in ran.stdout
