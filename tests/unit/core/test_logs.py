"""Progress that a person sees."""

import sys

import pytest

from polyreward.core import logs
from polyreward.core.logs import progress


@pytest.mark.parametrize(
    ("total", "steps", "lines"),
    [(8, [1] * 8, [f"mine: {n} of 8 texts" for n in (2, 4, 6, 8)]), (3, [3], ["mine: 3 of 3 texts"])],
)
def test_a_line_is_printed_at_each_quarter(capsys, total, steps, lines):
    with progress("mine", total) as advance:
        for count in steps:
            advance(count)
    assert capsys.readouterr().err.splitlines() == lines


@pytest.mark.parametrize("pipeline", [False, True])
def test_a_person_s_terminal_shows_a_bar_and_a_pipeline_s_none(capsys, monkeypatch, pipeline):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    if pipeline:
        monkeypatch.setattr(logs, "_terminal", sys.stderr)
    with progress("mine", 2) as advance:
        advance(2)
    assert ("100%" in capsys.readouterr().err) != pipeline
