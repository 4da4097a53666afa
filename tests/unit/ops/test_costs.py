"""Costs of jobs: sums, and what was asked for next to what was taken."""

import math

import pytest

from polyreward import cli
from polyreward.ops.costs import COST_COLUMNS, job_costs, jobs_run, too_little_asked


def job(folder, rule, name, seconds, cpu, memory):
    (folder / rule).mkdir(exist_ok=True)
    (folder / rule / f"{name}.tsv").write_text(
        f"s\th:m:s\tmax_rss\tcpu_time\n{seconds}\t0:00:01\t{memory}\t{cpu}\n"
    )


def log(folder, rule, name, text):
    path = folder.parent / "logs" / rule / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_was_asked_for_stands_beside_what_was_taken(tmp_path):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for name, taken, asked in (("a", 1000, "mem_mb=1048"), ("b", 2000, "mem_mb=2098 gpu=1"), ("c", 500, "")):
        job(folder, "train", name, 10, 20, taken)
        log(folder, "train", name, f"asked for: {asked}\nasked for: mem_mb=1\n")
    job(folder, "score", "a", 1, 1, 300)
    log(folder, "score", "a", "INFO: nothing of the kind\n")
    job(folder, "table", "a", 0.5, 1, "-")
    log(folder, "table", "a", "asked for: mem_mb=500\n")
    table = job_costs(jobs_run(folder)).set_index("rule")
    assert table.loc["train", ["asked_mb", "jobs_over"]].tolist() == [2098, 1]  # a took 1,048.6
    assert table.loc["train", "peak_mb"] == pytest.approx(2097.152)
    assert math.isnan(table.loc["score", "asked_mb"])
    assert table["jobs_over"].sum() == 1
    assert "- train a: took 1,049 MB and asked for 1,048" in too_little_asked(jobs_run(folder))
    assert too_little_asked(jobs_run(folder)).count("\n") == 1


def test_a_folder_without_costs_is_named_with_what_to_do(tmp_path, capsys):
    (tmp_path / "benchmarks").mkdir()
    job(tmp_path / "benchmarks", "train", "a", 5, 4, 100)
    assert cli.main(["costs", str(tmp_path)]) == 0
    assert "| train  |      1 |" in capsys.readouterr().out
    for folder, words in (
        ("none", "no such folder"),
        ("benchmarks", "no benchmark files; make a table first"),
    ):
        assert cli.main(["costs", str(tmp_path / folder)]) == 1
        assert f"{folder}/benchmarks: {words}, or name another results folder" in capsys.readouterr().err


def test_costs_are_summed_per_rule_the_dearest_first(tmp_path):
    job(tmp_path, "score", "a", 5, 4, 100)
    job(tmp_path, "train", "a", 10, 20, 300)
    job(tmp_path, "train", "b", 30, 50, 200)
    job(tmp_path, "train", "not measured", 10, "-", "-")
    table = job_costs(jobs_run(tmp_path))
    assert table.columns.tolist() == COST_COLUMNS
    assert table[COST_COLUMNS[:5]].values.tolist() == [["train", 3, 50, 30, 70], ["score", 1, 5, 5, 4]]
    assert table["peak_mb"].tolist() == pytest.approx([300 * 1.048576, 100 * 1.048576])
    assert too_little_asked(jobs_run(tmp_path)) == ""
