"""A known environment, scale tiny made once for all tests that read it, and two cores shared between tests."""

import fcntl
import gc
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import hypothesis
import pytest
from flow import WANTED
from support import checkout, snakemake

# Variables that tests and their processes keep: what the machine is, how it reaches packages, its compilers, and options
# of tests. Any other may change a result: a profile of Snakemake's, a library's threads, a token, a cluster's job.
KEPT = re.compile(
    "PATH|HOME|XDG_CACHE_HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|LC_.*|LOCPATH|LD_.*|NIX_LD.*|CUDA_.*|SUDO_.*"
    "|PIP_.*|(http|https|all|no)_proxy|SSL_CERT_.*|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    "|RUSTUP_.*|CARGO_.*|GO(ROOT|PATH|CACHE|FLAGS)|JAVA_.*|PYTEST_.*|COV.*|FUZZ_EXAMPLES|FAULTS_SEED",
    re.IGNORECASE,
)
for name in set(os.environ):
    if not KEPT.fullmatch(name):
        del os.environ[name]
for name in ("no_proxy", "NO_PROXY"):  # the tests' own servers are reached without a proxy
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
# Tests mean the CPU, also on a machine with a card; those about cards make one up. CUDA looks when torch is imported.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# Tests read Snakemake's own words on each job.
os.environ["POLYREWARD_LOG"] = "snakemake"
# pytest-xdist runs a process on each core, and Snakemake in each as many jobs. With a thread per core each, they
# would wait for each other. Libraries read all this when they are imported.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

# The same examples in every run, which may take long where cores are shared.
hypothesis.settings.register_profile("polyreward", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("polyreward")


def pytest_addoption(parser):
    words = "make scale tiny in this copy of the checkout, and keep it for the next run of the tests"
    parser.addoption("--checkout", type=Path, metavar="FOLDER", help=words)


# End-to-end tests that do not read scale tiny
APART = {"test_canary.py", "test_rehearsal.py"}


def shared_by(nodeid):
    """Return the group of tests that share fixtures: a file, or outside tests/unit/ a folder."""
    path = PurePosixPath(nodeid.split("::")[0])
    return path.name if "unit" in path.parts or path.name in APART else path.parent.name


def pytest_collection_modifyitems(items):
    """Start SLURM's group first, which waits most, then those of other folders; short files fill the end."""

    def place(item):
        group = shared_by(item.nodeid)
        return group != "slurm", group == item.path.name

    items.sort(key=place)


def pytest_collection_finish():
    """Leave what imports have made out of garbage collection, which libraries call often: a fifth of the time."""
    gc.collect()
    gc.freeze()


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
    """Folder of this run of the tests, the same for all processes."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def exclusive(shared):
    """Return a context in which only this process of the run makes or copies results."""

    @contextmanager
    def hold():
        with open(shared / "results.lock", "w", encoding="utf-8") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    return hold


def make_once(folder, done, *targets):
    """Make targets of scale tiny in a checkout, unless the file `done` says that another process has."""
    if not done.exists():
        ran = snakemake(*WANTED, "--rerun-incomplete", *targets, cwd=checkout(folder), many_jobs=True)
        assert ran.returncode == 0, ran.stdout
        done.touch()
    return folder / "results/tiny"


@pytest.fixture(scope="session")
def table1(request, shared, exclusive):
    """Results folder, in a copy of the checkout, with Table 1 and all that it needs."""
    with exclusive():
        folder = request.config.getoption("--checkout") or shared / "polyreward"
        return make_once(folder, shared / "table1", "results/tiny/table1.csv")


@pytest.fixture(scope="session")
def tiny(table1, shared, exclusive):
    """Results folder with every table, figure and notebook; it takes minutes."""
    with exclusive():
        return make_once(table1.parents[1], shared / "tiny", "all")


@pytest.fixture(scope="session")
def copied(exclusive):
    """Return a function that copies the checkout of some results into a new folder and returns that."""

    def copy(results, folder):
        with exclusive():
            shutil.copytree(results.parents[1], folder, ignore=shutil.ignore_patterns("__pycache__", "locks"))
        return folder

    return copy
