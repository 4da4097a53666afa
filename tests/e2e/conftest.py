"""A copy of the checkout with its results, for tests that edit it."""

import shutil

import pytest
from support import ROOT


@pytest.fixture(scope="session")
def copy(tiny, tmp_path_factory):
    """The folder of the copy."""
    folder = tmp_path_factory.mktemp("checkout") / "polyreward"
    ignored = shutil.ignore_patterns(".venv", ".git", "*.egg-info", "__pycache__", "mini_results", "locks")
    folder.mkdir()
    for name in ("Snakefile", "config.yaml", "workflow", "resources", "envs", ".snakemake"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    shutil.copytree(tiny, folder / "results/tiny")
    return folder
