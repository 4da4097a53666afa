"""Fixtures that several test modules share; those of models are defined in tiny_models.py."""

import subprocess

import pytest
from tiny_models import base, bases, reward_folder, tiny_gemma, trained

__all__ = ["base", "bases", "reward_folder", "small_disk", "tiny_gemma", "trained"]


@pytest.fixture
def pip_finds(tmp_path, monkeypatch):
    """Return a folder of wheels, the only place where pip looks."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", folder.as_uri())  # a list, between spaces
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 200 kB; skip where this user may not."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    ran = subprocess.run(mount, capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(f"no small disk can be mounted here: {ran.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)
