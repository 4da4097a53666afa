"""A copy of the checkout with its results, for tests that edit it."""

import pytest


@pytest.fixture(scope="session")
def copy(tiny, copied, tmp_path_factory):
    """The folder of the copy."""
    return copied(tiny, tmp_path_factory.mktemp("checkout") / "polyreward")
