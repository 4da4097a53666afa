"""The whole flow for real at scale tiny, made once for all tests that read it."""

import shutil

import pytest
from flow import MADE, RESULTS, WANTED
from support import snakemake


@pytest.fixture(scope="session")
def tiny():
    """The folder of all results of the transfer paper, made from nothing."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    ran = snakemake(*WANTED, *MADE)
    assert ran.returncode == 0, ran.stdout
    return RESULTS


@pytest.fixture(scope="session")
def whole(tiny):
    """The folder of all results; it takes minutes more."""
    ran = snakemake(*WANTED, "all")
    assert ran.returncode == 0, ran.stdout
    return tiny
