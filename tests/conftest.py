"""The whole flow for real at scale tiny, made once for all tests that read it, and how tests share two
cores."""

import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

# Several processes run the tests (pytest-xdist), one on each core, and Snakemake in them as many jobs again:
# with a thread for each core in each of them they would only wait for each other. Before anything imports
# torch.
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
        help=(
            "make scale tiny in this copy of the checkout and keep it there, for the next run of the tests to"
            " go on from"
        ),
    )


def shared_by(nodeid):
    """Return the name of the group of tests that run in one process, as they share what fixtures make.

    That is a file's tests, and outside tests/unit/ a folder's."""
    path = PurePosixPath(nodeid.split("::")[0])
    return path.name if "unit" in path.parts else path.parent.name


def pytest_collection_modifyitems(items):
    """Let what is shared by a folder start first: it takes the longest, and short files fill the end."""
    items.sort(key=lambda item: "unit" in item.path.parts)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    # Not `--dist loadgroup`: with pytest 9.2 pytest-xdist 3.8 sees no group.
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return shared_by(nodeid)

    return ByGroup(config, log)


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
    """Make targets of scale tiny in a checkout, unless another process of this run has: then the file `done`
    is there."""
    if not done.exists():
        ran = snakemake(*WANTED, "--rerun-incomplete", *targets, cwd=checkout(folder), many_jobs=True)
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
    """Return a function that copies the checkout of some results, with them, into a new folder, and returns
    that."""

    def copy(results, folder):
        with alone():
            shutil.copytree(results.parents[1], folder, ignore=shutil.ignore_patterns("__pycache__", "locks"))
        return folder

    return copy
