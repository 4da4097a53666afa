"""Simulated intervals cover the truth as often as they say."""

import runpy

import pytest
from support import ROOT

# Few templates, or hardly one that differs: shares go by steps, and intervals hold more than they say
CAUTIOUS = [
    *("benchmark, subset", "95% right", "95% right, difference", "trainings, section"),
    *("Think-as-Locals, rewardbench", "Think-as-Locals, rewardbench, difference"),
]


@pytest.fixture
def benchmark(monkeypatch):
    """Returns the globals of a script in benchmarks/."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return lambda name: runpy.run_path(str(ROOT / f"benchmarks/{name}.py"))


def test_coverage_is_simulated_of_every_kind_of_interval_in_every_scale_s_layout(benchmark):
    table = benchmark("coverage")["coverage_table"](1, 20)
    assert table["scale"].value_counts().to_dict() == {"mini": 34, "night": 19, "gpu": 15, "paper": 15}
    assert not table.duplicated(["scale", "what", "n"]).any()
    assert table[["coverage", "width"]].notna().all().all()


def test_layouts_are_those_that_the_scales_settings_draw(benchmark):
    layouts = {name: benchmark("layouts")["layout_of"](name) for name in ("mini", "gpu", "paper")}
    sizes = {
        name: (
            len(of.rows),
            of.rows["template"].nunique(),
            len(of.items),
            len(of.judged_rows),
            len(of.judged_items),
        )
        for name, of in layouts.items()
    }
    # docs/data/mini/table1.csv has 256 pairs of 128 templates; RewardBench has 2,985 pairs, and each
    # programming problem in six languages
    assert sizes["mini"] == (256, 128, 10 * 4 * 6, 2 * 17, 3 * 4 * 2)
    assert sizes["paper"][:2] == (2985, 2985 - 5 * 164)
    assert sizes["gpu"][1:] == (4 * 150, 10 * 4 * 12, 23 * 4, 3 * 4 * 10)
    assert set(layouts["mini"].judged_rows["subset"].value_counts()) == {2}


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(benchmark):
    table = benchmark("coverage")["coverage_table"](250, 500, ["mini"])
    highest = table["what"].map(lambda what: 1 if what in CAUTIOUS else 0.98)
    assert table[(table["coverage"] < 0.92) | (table["coverage"] > highest)].to_dict("records") == []
