"""Nominal 95% intervals hold the truth in about 95% of simulated samples, at our sizes."""

import math
import runpy

import pytest
from support import ROOT

# Loaded by its path: as a module its name would hide the package coverage
coverage_table = runpy.run_path(str(ROOT / "benchmarks/coverage.py"))["coverage_table"]

# Few templates, or hardly one that is apart: the shares that there can be go by steps, and intervals hold more than they say. The
# variance between three trainings is unsure, and none is taken off where it comes out below zero: a section's hold more, too.
CAUTIOUS = [
    "benchmark, subset",
    "95% right",
    "95% right, difference",
    "Think-as-Locals, section, difference",
    "trainings, section",
]
REPETITIONS = 400
REACH = 3 * math.sqrt(0.95 * 0.05 / REPETITIONS)  # three standard errors of a coverage of 95%: 3.3%


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    found = coverage_table(REPETITIONS, samples=500).set_index(["what", "n"])["coverage"]
    assert len(found) == 25
    most = dict.fromkeys(CAUTIOUS, 1.0)
    outside = {row: share for row, share in found.items() if not 0.95 - REACH <= share <= most.get(row[0], 0.95 + REACH)}
    assert not outside
