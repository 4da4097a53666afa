"""Nominal 95% intervals hold the truth in about 95% of simulated samples, at our sizes."""

import runpy

import pytest
from support import ROOT

# Loaded by its path: as a module its name would hide the package coverage
coverage_table = runpy.run_path(str(ROOT / "benchmarks/coverage.py"))["coverage_table"]

# Eight templates are often all right, and then have no interval; subsets of two or three have few resamples that differ
SHORT = {("benchmark, subset", "8 templates"): 0.871, ("Think-as-Locals, section", "7 templates"): 0.811}  # of 1600 samples


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    found = coverage_table(repetitions=400, samples=500).set_index(["what", "n"])["coverage"]
    assert len(found) == 16
    outside = {row: share for row, share in found.items() if row not in SHORT and not 0.92 <= share <= 0.98}
    assert not outside
    assert {row: found[row] for row in SHORT} == pytest.approx(SHORT, abs=0.045)  # take out what is no longer short
