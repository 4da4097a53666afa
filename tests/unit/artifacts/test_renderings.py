"""An artifact's table as CSV, Markdown, LaTeX and HTML."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from polyreward.artifacts.renderings import write_artifact, write_html, write_latex, write_markdown

TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.1, 2 / 3], "count": [1, 2]})


def test_an_artifact_is_written_as_csv_markdown_latex_and_html(tmp_path):
    paths = {kind: tmp_path / f"t.{kind}" for kind in ("csv", "md", "tex", "html")}
    write_artifact(TABLE, list(TABLE), "The caption.", "results", SimpleNamespace(**paths))
    texts = {kind: path.read_text() for kind, path in paths.items()}
    assert "0.666667" in texts["csv"]
    assert "| b      | 0.7     | 2       |" in texts["md"]
    assert r"\label{tab:results}" in texts["tex"]
    assert re.findall("<td>(.*)</td>", texts["html"]) == ["a", "0.1", "1", "b", "0.7", "2"]


def test_markdown_has_the_caption_above_and_text_as_it_is(tmp_path):
    table = pd.DataFrame({"a": ["1.50", "+2", "z"], "b": ["x", "", "x|y"]})
    write_markdown(table, "A caption", tmp_path / "t.md")
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[:2] == ["A caption", ""]
    # A number keeps its digits, and a bar is escaped
    assert [line.replace(" ", "") for line in lines[4:]] == ["|1.50|x|", "|+2||", r"|z|x\|y|"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"), ("R&D", r"R\&D"), ("5%", r"5\%"), ("$1", r"\$1"), ("#1", r"\#1"),
        ("\u0394", r"$\Delta$"), ("\u22121.5", "$-$1.5"), ("a{b", r"a\{b"), ("a}b", r"a\}b"),
        ("a\\b", r"a\textbackslash{}b"), ("a~b", r"a\textasciitilde{}b"), ("a^b", r"a\textasciicircum{}b"),
    ],
)  # fmt: skip
def test_latex_escapes_cells_headings_and_captions(tmp_path, text, escaped):
    table = pd.DataFrame({f"head {text}": [f"cell {text}"], "other": ["x"]})
    write_latex(table, f"caption {text}", "tab:t", tmp_path / "t.tex")
    written = (tmp_path / "t.tex").read_text()
    assert all(f"{place} {escaped}" in written for place in ("head", "cell", "caption"))


def test_html_escapes_what_it_shows_and_cuts_nothing(tmp_path):
    table = pd.DataFrame({"a<b": ["R&D " * 40], "c": ["\u0394"]})
    write_html(table, "caption 1 < 2", "table1", tmp_path / "t.html")
    written = (tmp_path / "t.html").read_text(encoding="utf-8")
    for shown in ("<p>caption 1 &lt; 2</p>", "<th>a&lt;b</th>", "<td>\u0394</td>"):
        assert shown in written
    assert written.count("R&amp;D") == 40


def test_html_has_both_levels_of_a_heading(tmp_path):
    columns = pd.MultiIndex.from_tuples([("", "RM"), ("gemma", "Chat"), ("gemma", "Safety")])
    write_html(pd.DataFrame([["x", "y", "z"]], columns=columns), "caption", "table1", tmp_path / "t.html")
    assert re.search('<th colspan="2".*>gemma</th>', (tmp_path / "t.html").read_text())
