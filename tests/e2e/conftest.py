"""A copy of the checkout with its results, for tests that edit it; and all these tests in one process, as they share both."""

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("e2e"))


@pytest.fixture(scope="session")
def copy(tiny, copied, tmp_path_factory):
    """The folder of the copy."""
    return copied(tiny, tmp_path_factory.mktemp("checkout") / "polyreward")
