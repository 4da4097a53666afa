"""Progress that a person sees."""

import sys

from polyreward.core import logs
from polyreward.core.logs import progress


def test_a_line_is_printed_at_each_quarter(capsys):
    with progress("mine", 8) as advance:
        for _ in range(8):
            advance(1)
    assert capsys.readouterr().err.splitlines() == ["mine: 2/8", "mine: 4/8", "mine: 6/8", "mine: 8/8"]


def test_a_step_over_several_quarters_is_one_line(capsys):
    with progress("mine", 3) as advance:
        advance(3)
    assert capsys.readouterr().err.splitlines() == ["mine: 3/3"]


def test_a_person_s_terminal_shows_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress("mine", 2) as advance:
        advance(2)
    assert "100%" in capsys.readouterr().err


def test_a_pipeline_s_terminal_shows_no_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(logs, "_terminal", sys.stderr)
    with progress("mine", 2) as advance:
        advance(2)
    assert "%" not in capsys.readouterr().err
