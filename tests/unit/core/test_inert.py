"""Texts of strangers do nothing where they are shown, and come back as they were."""

import pandas as pd
import pytest

from polyreward.artifacts.renderings import write_html, write_latex, write_markdown
from polyreward.core.inert import for_spreadsheets, from_spreadsheets, printable
from polyreward.core.logs import announce
from polyreward.core.tables import read_table, write_table
from polyreward.evaluation.tables import write_by_suffix

FORMULAS = [
    *("=cmd|' /C calc'!A0", "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0"),
    *("\t=1+1", "\n=1+1", "=1", "-x", "@"),
]
NUMBERS = ["-0.26 [-0.33, -0.20]", "+1.5%", "-1e-05", "-", "+3 (\u00b12)", "1", "a=b", "it's", "'quoted'", ""]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text_to_a_spreadsheet(text):
    assert for_spreadsheets(text) == f"'{text}"
    assert from_spreadsheets(f"'{text}") == text


@pytest.mark.parametrize("cell", [*NUMBERS, -1.5, None, True])
def test_numbers_and_other_texts_stay_as_they_are(cell):
    assert for_spreadsheets(cell) is cell
    assert from_spreadsheets(cell) is cell


def test_csv_files_hold_no_formula_and_are_read_back(tmp_path):
    table = pd.DataFrame(
        {"subset": FORMULAS, "accuracy_pct": [-1.5] * len(FORMULAS), "n_items": range(len(FORMULAS))}
    )
    write_table(table, tmp_path / "a.csv", list(table.columns))
    write_by_suffix(table, tmp_path / "b.csv")
    for name in ("a.csv", "b.csv"):
        cells = pd.read_csv(tmp_path / name)["subset"]
        assert all(cell.startswith("'") for cell in cells)
        assert (pd.read_csv(tmp_path / name)["accuracy_pct"] == -1.5).all()
    assert read_table(tmp_path / "a.csv", list(table.columns))["subset"].tolist() == FORMULAS
    write_table(pd.DataFrame({"id": ["a\r=1+1", "\r\n@b"]}), tmp_path / "a.csv", ["id"])  # begins no row
    assert read_table(tmp_path / "a.csv", ["id"])["id"].tolist() == ["a\n=1+1", "\n@b"]


def test_markdown_html_and_latex_hold_no_tag_and_no_link(tmp_path):
    words = [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "a|b\nc",
        "<img src=x onerror=alert(1)>",
        "\\input{/etc/passwd}",
    ]
    table = pd.DataFrame({"a": words, "b": words, "c": words})
    write_markdown(table, "A caption.", tmp_path / "a.md")
    write_html(table, "<script>", "</title><script>", tmp_path / "a.html")
    write_latex(table, "A \\input{x} caption", "tab:a", tmp_path / "a.tex")
    markdown = (tmp_path / "a.md").read_text()
    assert "<script" not in markdown and "<img" not in markdown and "](" not in markdown
    assert len(markdown.splitlines()) == 4 + len(words)
    page = (tmp_path / "a.html").read_text()
    assert "<script" not in page and "<img" not in page
    assert r"\input" not in (tmp_path / "a.tex").read_text()


def test_a_terminal_gets_no_control_and_no_turned_text(capsys):
    announce("a\x1b[2Jb\x07c\u202ed\n\te\ud800")
    assert capsys.readouterr().err == "a\\x1b[2Jb\\x07c\\u202ed\n\te\\ud800\n"
    joined = "\u0645\u200c\u06cc \U0001f468\u200d\U0001f469"
    assert printable(joined) == joined
