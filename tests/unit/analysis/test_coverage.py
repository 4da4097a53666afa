"""Nominal 95% intervals hold the truth in about 95% of simulated samples, at our sizes."""

import runpy

import pytest
from support import ROOT

# Loaded by its path: as a module its name would hide the package coverage
coverage_table = runpy.run_path(str(ROOT / "benchmarks/coverage.py"))["coverage_table"]

# Few templates, or hardly one that is apart: the shares that there can be go by steps, and intervals hold more than they say
CAUTIOUS = ["benchmark, subset", "95% right", "95% right, difference", "Think-as-Locals, section, difference"]
# Variance between trainings that all languages of a claim share is known from two degrees of freedom: 91.9% of 795 samples
KNOWN_TO_BE_SHORT = {"claim, mean lead in four languages": 0.88}


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    found = coverage_table(repetitions=400, samples=500).set_index(["what", "n"])["coverage"]
    assert len(found) == 25
    least, most = KNOWN_TO_BE_SHORT, dict.fromkeys(CAUTIOUS, 1.0)
    outside = {row: share for row, share in found.items() if not least.get(row[0], 0.92) <= share <= most.get(row[0], 0.98)}
    assert not outside
