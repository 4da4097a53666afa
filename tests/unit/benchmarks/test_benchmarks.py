"""Simulated intervals cover the truth as often as they say, and the comparison with rewardbench fails where it must."""

import runpy

import numpy as np
import pandas as pd
import pytest
from support import ROOT

from polyreward.analysis.comparison import Benchmark
from polyreward.core.errors import PolyrewardError

# Few templates, or hardly one that differs: shares go by steps, and intervals hold more than they say
CAUTIOUS = [
    *("benchmark, subset", "95% right", "95% right, difference", "trainings, section"),
    *("Think-as-Locals, rewardbench", "Think-as-Locals, rewardbench, difference"),
    *("quartets", "lessons", "one kind, drift"),  # of 10 to 32 topics or templates
]


@pytest.fixture
def benchmark(monkeypatch):
    """Returns the globals of a script in benchmarks/."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return lambda name: runpy.run_path(str(ROOT / f"benchmarks/{name}.py"))


def test_coverage_is_simulated_of_every_kind_of_interval_in_every_scale_s_layout(benchmark):
    table = benchmark("coverage")["coverage_table"](1, 20)
    rows = {"mini": 45, "reference": 38, "night": 30, "gpu": 24, "paper": 24}
    assert table["scale"].value_counts().to_dict() == rows
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
    # docs/data/mini/table1.csv has 160 pairs of 80 templates; RewardBench has 2,985 pairs, and each
    # programming problem in six languages
    assert sizes["mini"] == (160, 80, 10 * 4 * 6, 2 * 17, 3 * 4 * 2)
    assert sizes["paper"][:2] == (2985, 2985 - 5 * 164)
    judged = layouts["gpu"].rows["subset"].value_counts().clip(upper=12).sum()
    assert sizes["gpu"][1:] == (4 * 150, 10 * 4 * 12, judged, 3 * 4 * 10) and judged > 20 * 12
    assert set(layouts["mini"].judged_rows["subset"].value_counts()) == {2}


def test_quartets_are_simulated_in_the_topics_that_scales_draw_with_known_truths(benchmark):
    layouts = benchmark("layouts")
    mini, gpu = (layouts["layout_of"](name).topics for name in ("mini", "gpu"))
    counts = {kind: (len(topics), len(set(topics))) for kind, topics in mini.items()}
    assert counts["fact"] == (24, 24) and counts["format"] == (14, 14) and counts["taught"] == (12, 12)
    assert len(set(gpu["fact"])) == 84 < len(gpu["fact"]) and "taught" not in gpu
    simulated = benchmark("culture")
    assert simulated["truth"]("swaps", 0.0) == pytest.approx(50, abs=0.2)
    tables = simulated["simulated"](np.random.default_rng(1), ["t", "u", "t"], [0.0, 50.0])
    assert tables.shape == (2, 3, 4, 4) and (tables[1].argmax(axis=2) == np.arange(4)).all()


def test_compare_is_simulated_with_known_differences_and_their_truths(benchmark):
    found = benchmark("compared")
    rows = pd.DataFrame({"id": list("abc"), "template": list("abc"), "subset": ["u", "v", "v"]})
    sections = Benchmark("made up", {"one": ["u", "v"], "two": ["v"]}, {"u": 6})
    means, truth = found["accuracies"](found["Items"](rows, sections, []))
    of_v = 0.6 + 0.15 * np.sin(1)
    assert means.tolist() == pytest.approx([0.6, of_v, of_v])
    first = (6 * 0.6 + 2 * of_v) / 8
    assert truth == pytest.approx({"one": first, "two": of_v, "overall": (first + of_v) / 2})
    tables = found["compare_tables"](found["samples_of"]("few clusters of 10", 2, 20))
    assert (tables["compare.csv"]["samples"] == 2).all() and tables["compare.csv"][
        "coverage_pct"
    ].notna().all()
    leads = tables["compare_power.csv"].groupby("what")["difference"].agg(list)
    assert leads["two models"] == leads["two models, 3 trainings each"] == pytest.approx([0, 3, 6, 12])
    assert leads["any of 6 pairs of 4 models"] == [0]


def round_of(*rewards, tokens=100):
    times = dict.fromkeys(("seconds", "processor", "command", "command_processor"), 2.0)
    return times | {"real_tokens": tokens, "computed_tokens": 200, "texts_cut": 0, "rewards": rewards}


def test_the_comparison_with_rewardbench_fails_where_the_tools_differ(benchmark):
    table_row = benchmark("against_rewardbench")["table_row"]
    theirs = [round_of((1.0, 0.5), (0.1, 0.2))]
    row = table_row("answer", "mixed", theirs, [round_of((1.0, 0.50001), (0.1, 0.2))])
    assert (row["preferences turned"], row["scoring"]) == (0, "1.00 (1.00-1.00)")
    for other, words in (
        (round_of((1.0, 0.5), (0.2, 0.1)), "1 of 2 preferences turned"),
        (round_of((1.0, 0.6), (0.1, 0.2)), "rewards differ by up to 1.0e-01"),
        (round_of((1.0, 0.5), (0.1, 0.2), tokens=99), "scored different texts"),
    ):
        with pytest.raises(PolyrewardError, match=words):
            table_row("answer", "mixed", theirs, [other])


def test_a_third_of_the_mixed_pairs_has_turns_and_a_third_is_cut(benchmark):
    found = benchmark("against_rewardbench")
    rows = [
        {"id": f"{n}", "prompt": "What is it?", "chosen": "This. " * n, "rejected": "No."}
        for n in range(1, 10)
    ]
    mixed = found["mixed_pairs"](rows)
    lengths = [sum(len(turn["content"]) for turn in row["prompt"]) for row in mixed]
    assert [len(row["prompt"]) for row in mixed[::3]] == [1, 1, 1]
    assert [len(row["prompt"]) for row in mixed[1::3]] == [3, 3, 3]
    assert min(lengths[2::3]) > 6 * found["MAX_LENGTH"]
    assert all(turn["role"] == "user" for row in mixed for turn in row["prompt"][::2])


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(benchmark):
    table = benchmark("coverage")["coverage_table"](250, 500, ["mini"])
    highest = table["what"].map(lambda what: 1 if {what, what.split(",")[0]} & {*CAUTIOUS} else 0.98)
    assert table[(table["coverage"] < 0.92) | (table["coverage"] > highest)].to_dict("records") == []
