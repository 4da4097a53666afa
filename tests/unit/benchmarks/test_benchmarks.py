"""Simulated intervals cover the truth as often as they say."""

import runpy

import pytest
from support import ROOT

# Few templates, or hardly one that differs: shares go by steps, and intervals hold more than they say
CAUTIOUS = [
    *("benchmark, subset", "95% right", "95% right, difference", "Think-as-Locals, section, difference"),
    *("two kinds, section", "one kind, drift"),  # 32 and some 25 templates, of which 9 in 10 are right
]


@pytest.fixture
def coverage_table():
    """The function of benchmarks/coverage.py."""
    return runpy.run_path(str(ROOT / "benchmarks/coverage.py"))["coverage_table"]


def test_coverage_is_simulated_of_every_kind_of_interval(coverage_table):
    table = coverage_table(2, 20)
    assert len(table) == 34 and not table.duplicated(["what", "n"]).any()


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(coverage_table):
    table = coverage_table(400, 500)
    highest = table["what"].map(lambda what: 1 if what in CAUTIOUS else 0.98)
    assert table[(table["coverage"] < 0.92) | (table["coverage"] > highest)].to_dict("records") == []
