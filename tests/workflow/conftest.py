"""What workflow tests share."""

import os

import pytest
from hub_server import Hub


@pytest.fixture
def empty_hub(tmp_path, monkeypatch):
    """A hub without repositories, and the environment that leads there."""
    server = Hub()
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    yield server
    server.close()
