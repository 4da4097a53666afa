"""The whole flow for real at scale tiny, made once for all tests that read it, and how tests share two cores."""

import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

# Several processes run the tests (pytest-xdist), one on each core, and Snakemake in them as many jobs again: with a thread for
# each core in each of them they would only wait for each other. Before anything imports torch.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import pytest
from flow import WANTED
from support import checkout, snakemake


def pytest_addoption(parser):
    parser.addoption(
        "--checkout",
        type=Path,
        metavar="FOLDER",
        help="make scale tiny in this copy of the checkout and keep it there, for the next run of the tests to go on from",
    )


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Let tests that share what their fixtures make run in one process: a file's, and outside tests/unit/ a folder's.

    These take the longest, so that they start first and the short ones fill the end."""
    items.sort(key=lambda item: item.path.parent.name == "unit")
    for item in items:
        folder = item.path.parent.name
        item.add_marker(pytest.mark.xdist_group(item.path.name if folder == "unit" else folder))


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """The folder of this run of the tests, the same for all processes."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def alone(shared):
    """Return a context in which no other process of this run makes or copies results."""

    @contextmanager
    def hold():
        with open(shared / "results.lock", "w", encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    return hold


def make_once(folder, done, *targets):
    """Make targets of scale tiny in a checkout, unless another process of this run has: then the file `done` is there."""
    if not done.exists():
        ran = snakemake(*WANTED, "--rerun-incomplete", *targets, cwd=checkout(folder))
        assert ran.returncode == 0, ran.stdout
        done.touch()
    return folder / "results/tiny"


@pytest.fixture(scope="session")
def table1(request, shared, alone):
    """The folder of the results, in a copy of the checkout, with Table 1 and all that it needs."""
    with alone():
        folder = request.config.getoption("--checkout") or shared / "polyreward"
        return make_once(folder, shared / "table1", "results/tiny/table1.csv")


@pytest.fixture(scope="session")
def tiny(table1, shared, alone):
    """The folder of the results, with every table, figure and notebook; it takes minutes."""
    with alone():
        return make_once(table1.parents[1], shared / "tiny", "all")


@pytest.fixture(scope="session")
def copied(alone):
    """Return a function that copies the checkout of some results, with them, into a new folder, and returns that."""

    def copy(results, folder):
        with alone():
            shutil.copytree(results.parents[1], folder, ignore=shutil.ignore_patterns("__pycache__", "locks"))
        return folder

    return copy
