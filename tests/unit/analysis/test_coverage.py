"""Nominal 95% intervals hold the truth in about 95% of simulated samples, at our sizes."""

import runpy

import pytest
from support import ROOT

# Loaded by its path: as a module its name would hide the package coverage
coverage_table = runpy.run_path(str(ROOT / "benchmarks/coverage.py"))["coverage_table"]

# Few templates, or hardly one that is apart: the shares that there can be go by steps, and intervals hold
# more than they say
CAUTIOUS = ["benchmark, subset", "95% right", "95% right, difference", "Think-as-Locals, section, difference"]


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    found = coverage_table(repetitions=400, samples=500).set_index(["what", "n"])["coverage"]
    assert len(found) == 26
    outside = {
        row: share for row, share in found.items() if not 0.92 <= share <= (1 if row[0] in CAUTIOUS else 0.98)
    }
    assert not outside
