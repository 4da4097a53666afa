"""Costs of jobs: sums, and what was asked for next to what was taken."""

import math

import pytest

from polyreward import cli
from polyreward.ops.costs import COST_COLUMNS, job_costs, jobs_run


@pytest.fixture
def job(tmp_path):
    """Return a function that writes a job's benchmark file, and its log where it has one."""

    def write(rule, name, seconds, cpu, mib, log=None):
        for folder, suffix, text in (
            ("benchmarks", "tsv", f"s\th:m:s\tmax_rss\tcpu_time\n{seconds}\t0:00:01\t{mib}\t{cpu}\n"),
            ("logs", "log", log),
        ):
            path = tmp_path / folder / rule / f"{name}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text)

    return write


def test_costs_are_summed_per_rule_the_dearest_first_next_to_what_was_asked_for(job, tmp_path):
    for name, seconds, cpu, taken, asked in (
        ("a", 10, 20, 1000, "mem_mb=1048"),
        ("b", 30, 50, 2000, "mem_mb=2098 gpu=1"),
        ("c", 10, "-", "-", ""),
    ):
        job("train", name, seconds, cpu, taken, f"asked for: {asked}\nasked for: mem_mb=1\n")
    job("score", "a", 5, 4, 300, "INFO: nothing of the kind\n")
    job("table", "a", 0.5, 1, "-", "asked for: mem_mb=500\n")
    job("old", "a", 0.25, 1, 100)
    table = job_costs(jobs_run(tmp_path / "benchmarks"))
    assert table.columns.tolist() == COST_COLUMNS
    assert table[COST_COLUMNS[:5]].values.tolist() == [
        ["train", 3, 50, 30, 70], ["score", 1, 5, 5, 4], ["table", 1, 0.5, 0.5, 1], ["old", 1, 0.25, 0.25, 1],
    ]  # fmt: skip
    peaks = [2000 * 1.048576, 300 * 1.048576, math.nan, 100 * 1.048576]
    assert table["peak_mb"].tolist() == pytest.approx(peaks, nan_ok=True)
    assert table["asked_mb"].tolist() == pytest.approx([2098, math.nan, 500, math.nan], nan_ok=True)
    assert table["jobs_over"].tolist() == [1, 0, 0, 0]


def test_a_folder_without_costs_is_named_with_what_to_do(job, tmp_path, capsys):
    job("train", "a", 5, 4, 100)
    assert cli.main(["costs", str(tmp_path)]) == 0
    assert "| train  |      1 |" in capsys.readouterr().out
    for folder, words in (
        ("none", "no such folder"),
        ("benchmarks", "no benchmark files; make a table first"),
    ):
        assert cli.main(["costs", str(tmp_path / folder)]) == 1
        assert f"{folder}/benchmarks: {words}, or name another results folder" in capsys.readouterr().err
