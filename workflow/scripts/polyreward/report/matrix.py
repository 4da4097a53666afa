"""The page of a transfer matrix: one file to share."""

import base64
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from polyreward.core.files import write_text
from polyreward.core.project import ROOT
from polyreward.evaluation import matrix_shown as shown
from polyreward.evaluation.matrix import Matrix
from polyreward.report.rendering import rendered
from polyreward.report.tables import Table, table_of


def write_matrix_page(found: Matrix, folder: Path) -> Path:
    """Write matrix.html next to the figure, which is in it; return its path."""
    sections = shown.section_table(found)
    text = rendered(
        ROOT / "workflow/report/page",
        "matrix.html",
        model=found.model,
        headline=shown.headline(found),
        languages=_table(shown.language_table(found)),
        sections=_table(sections) if len(sections) else None,
        printed=_table(shown.printed_table(found)),
        remarks=shown.remarks(found),
        figure=base64.b64encode((folder / "matrix.png").read_bytes()).decode("ascii"),
        made_with=f"Made by polyreward {version('polyreward')}",
    )
    path = folder / "matrix.html"
    write_text(text, path)
    return path


def _table(table: pd.DataFrame) -> Table:
    return table_of([], list(table.columns), table.to_numpy().tolist())
