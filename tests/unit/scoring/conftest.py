"""A server of chat completions, and judges on it."""

import pytest
from chat_server import KEY, judge_at, running


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with running() as found:
        yield found


@pytest.fixture
def make(server, tmp_path):
    """Return a function that makes a judge on the server, with changes to its settings."""

    def made(**changes):
        return judge_at(changes.pop("url", server.url), changes.pop("cache", tmp_path / "cache"), **changes)

    return made
