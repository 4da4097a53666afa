"""A benchmark of the user's own waits for no other benchmark, and with `bases: []` for no training."""

import pytest
from support import ROOT, jobs_of, snakemake

FILE = ROOT / "resources/example/best_of_four.jsonl"


def run(folder, bases, *wanted, language="pt"):
    """Run scale tiny with a reward model and a benchmark of the user's own."""
    text = f"""
{bases}
reward_models: {{mine: {{kind: implicit, model: tiny-gemma}}}}
own_benchmarks: {{best: {{path: {FILE}, language: {language}}}}}
"""
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    scale = ["--configfile", "workflow/scales/tiny.yaml", str(folder / "mine.yaml")]
    return snakemake("--cores", "1", *wanted, *scale)


OWN = ["-n", "results/tiny/benchmark_best.csv"]


def test_with_no_base_it_is_prepared_and_scored_and_nothing_else(tmp_path):
    ran = run(tmp_path, "bases: []", *OWN)
    jobs = {rule: count for rule, count in jobs_of(ran).items() if rule not in ("total", "random_base_model")}
    scored = {"own_benchmark": 1, "single_scores": 1, "own_benchmark_table": 1}
    assert scored.items() <= jobs.items(), ran.stdout
    assert not {"reward_model", "ready_made_scores", "evaluation_set"} & jobs.keys()


def test_with_bases_every_trained_reward_model_scores_it_in_any_language_of_cldr(tmp_path):
    ran = run(tmp_path, "", *OWN)
    jobs = jobs_of(ran)
    assert jobs["single_scores"] == 11, ran.stdout  # 10 are trained here
    assert "ready_made_scores" not in jobs


def test_a_language_that_cldr_has_not_is_named(tmp_path):
    ran = run(tmp_path, "bases: []", *OWN, language="xq")
    assert ran.returncode != 0
    assert "`xq` is no language of CLDR; give its ISO 639 code, such as pt" in ran.stdout


@pytest.mark.parametrize("target", ["table1.csv", "figure1.png"])
def test_what_needs_trained_reward_models_says_so_before_the_first_job(tmp_path, target):
    ran = run(tmp_path, "bases: []", f"results/tiny/{target}")
    assert ran.returncode != 0
    assert "bases: [] trains no reward model" in ran.stdout
