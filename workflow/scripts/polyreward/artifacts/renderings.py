"""Render a table as Markdown, LaTeX and a web page, from the same cells as its CSV."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

import pandas as pd

from polyreward.core.files import write_text
from polyreward.core.inert import for_markdown
from polyreward.core.tables import write_table

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title</title>
<style>
body { font: 14px sans-serif; color: black; background: white; margin: 1.5em; }
p { max-width: 60em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.8em; text-align: right; white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td:nth-child(2) { max-width: 30em; white-space: normal; }
th[colspan] { text-align: center; }
thead { background: white; box-shadow: 0 1px; position: sticky; top: 0; }
tbody tr:hover { background: #eee; }
</style>
</head>
<body>
<p>$caption</p>
$rows
</body>
</html>
""")


def write_artifact(
    table: pd.DataFrame,
    columns: Sequence[str],
    caption: str,
    name: str,
    output,
    display: pd.DataFrame | None = None,
) -> None:
    """Write a table as output.csv, .md, .tex and .html; display: its text cells, if not numbers with one
    decimal."""
    write_table(table, output.csv, columns)
    shown = plain_display(table[list(columns)]) if display is None else display
    write_markdown(shown, caption, output.md)
    write_latex(shown, caption, f"tab:{name}", output.tex)
    write_html(shown, caption, name, output.html)


def as_cells(values: Iterable[float], form: str = "") -> list[str]:
    """Return values as text in a format such as ".1f", missing ones empty."""
    return ["" if pd.isna(value) else format(value, form) for value in values]


def with_interval(value: float, low: float, high: float, form: str, unknown: str = "") -> str:
    """Return a value and its interval as text in a format such as "+.2f", "" where it is missing; unknown:
    what follows a value without an interval."""
    if pd.isna(value):
        return ""
    return f"{value:{form}}" + (unknown if pd.isna(low) else f" [{low:{form}}, {high:{form}}]")


def plain_display(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table's cells as text: floats with one decimal, integers without, gaps empty."""
    return table.map(
        lambda cell: "" if pd.isna(cell) else f"{cell:.1f}" if isinstance(cell, float) else str(cell)
    )


def write_markdown(table: pd.DataFrame, caption: str, path: str | Path) -> None:
    """Write a table of text cells as Markdown with its caption."""
    flat = table.map(for_markdown).set_axis(
        [" ".join(filter(None, c)) if isinstance(c, tuple) else c for c in table.columns], axis=1
    )
    write_text(f"{caption}\n\n{flat.to_markdown(index=False, disable_numparse=True)}\n", path)


def write_latex(table: pd.DataFrame, caption: str, label: str, path: str | Path) -> None:
    """Write a table of text cells as LaTeX (booktabs) with its caption and label."""
    text = table.map(_escaped)
    text = text.set_axis(
        text.columns.map(lambda c: tuple(map(_escaped, c)) if isinstance(c, tuple) else _escaped(c)), axis=1
    )
    write_text(
        text.style.hide(axis="index").to_latex(
            caption=_escaped(caption),
            label=label,
            hrules=True,
            multicol_align="c",
            position="t",
            column_format="l" * 2 + "r" * (text.shape[1] - 2),
        ),
        path,
    )


def write_html(table: pd.DataFrame, caption: str, title: str, path: str | Path) -> None:
    """Write a table of text cells as one self-contained web page with its caption."""
    with pd.option_context("display.max_colwidth", None):  # else long texts are cut
        rows = table.to_html(index=False, border=0, justify="unset")
    write_text(PAGE.substitute(title=escape(title), caption=escape(caption), rows=rows), path)


def _escaped(text: str) -> str:
    words = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    words |= {"<": "$<$", ">": "$>$"}  # which LaTeX's usual fonts print as other characters
    text = "".join(words.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)
    return text.replace("\u0394", r"$\Delta$").replace("\u2212", "$-$")
