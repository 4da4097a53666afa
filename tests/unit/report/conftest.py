"""Fixtures of the page's tests."""

import pytest
from made_up_results import write_made_up


@pytest.fixture
def results(tmp_path):
    """A results folder of scale tiny with a few artifacts."""
    return write_made_up(tmp_path)
